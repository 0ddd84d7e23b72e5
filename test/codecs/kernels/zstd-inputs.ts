import { randomNumbers } from "../support.ts";

const random = randomNumbers(31);
const words = Array.from({ length: 500 }, () => Math.floor(random(2 ** 31)).toString(36));
/** Bytes that make the blocks of zstd differ: literals only, matches only, runs, tables that are used again. */
export const INPUTS: Record<string, Uint8Array> = {
  none: new Uint8Array(0),
  one: Uint8Array.of(7),
  noise: Uint8Array.from({ length: 70_000 }, () => random(256)),
  runs: Uint8Array.from({ length: 300_000 }, (_, i) => i >> 12),
  skewed: Uint8Array.from({ length: 150_000 }, () => Math.clz32(1 + random(2 ** 31))),
  sparse: Uint8Array.from({ length: 300_000 }, () => (random(50) === 0 ? random(256) : 0)),
  floats: new Uint8Array(
    Float32Array.from({ length: 100_000 }, (_, i) => Math.round(Math.sin(i / 300) * 500)).buffer,
  ),
  text: Buffer.from(Array.from({ length: 60_000 }, () => words[random(random(500) + 1)]).join(" ")),
  repeats: Uint8Array.from({ length: 200_000 }, (_, i) => (i % 4001) * 7 + (i % 977 === 0 ? random(9) : 0)),
};
