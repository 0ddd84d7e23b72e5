import { Random } from "./random.ts";

/** Bytes as chunks have them, of several lengths, the same every time. */
export function inputs(): readonly Uint8Array[] {
  const random = new Random(2_718_281);
  const made = (length: number, byte: (i: number) => number) =>
    Uint8Array.from({ length }, (_, i) => byte(i));
  const floats = Float32Array.from({ length: 230 }, (_, i) => Math.round(100 * Math.sin(i / 9)) / 10);
  return [
    made(0, () => 0),
    made(1, () => 7),
    made(13, (i) => i * 31),
    made(96, () => random.below(256)),
    made(512, (i) => i >> 6),
    made(600, () => Math.clz32(1 + random.bits())),
    made(777, (i) => (i % 41) * 5 + (i % 97 === 0 ? random.below(9) : 0)),
    made(1024, (i) => (i % 100 < 40 ? random.below(256) : i >> 4)),
    new Uint8Array(floats.buffer),
    made(1500, (i) => (random.oneIn(20) ? random.below(256) : i < 900 ? 0 : 3)),
  ];
}

/** Inputs that take several blocks, or all that formats have for long ones. */
export function longInputs(): readonly Uint8Array[] {
  const random = new Random(3_141_592);
  const words = Array.from({ length: 300 }, () => random.bits().toString(36));
  const text = Array.from({ length: 2000 }, () => words[random.below(random.below(300) + 1)]).join(" ");
  const mixed = Uint8Array.from({ length: 140_000 }, (_, i) =>
    i % 7000 < 900 ? random.below(256) : i % 251,
  );
  return [new Uint8Array(Buffer.from(text)), mixed];
}
