// @module-tag slow
import Blosc from "numcodecs/blosc";
import GZip from "numcodecs/gzip";
import LZ4 from "numcodecs/lz4";
import Zlib from "numcodecs/zlib";
import Zstd from "numcodecs/zstd";
import { describe, expect, test } from "vitest";
import { decodeBytes, encodeBytes } from "../../src/codecs/standalone.ts";
import { expectSame, randomNumbers } from "./support.ts";

// The package is c-blosc, LZ4 and zstd themselves, in WebAssembly: a twin written by others.
const random = randomNumbers(8);
const INPUTS: Record<string, Uint8Array> = {
  noise: Uint8Array.from({ length: 3000 }, () => random(256)),
  runs: Uint8Array.from({ length: 70_000 }, (_, i) => i >> 9),
  floats: new Uint8Array(
    Float32Array.from({ length: 120_000 }, (_, i) => Math.round(Math.sin(i / 300) * 500 + random(3)) / 50)
      .buffer,
  ),
  text: new Uint8Array(Buffer.from(Array.from({ length: 4000 }, () => `word${random(40)} `).join(""))),
  short: Uint8Array.of(1, 2, 3, 4),
};

const CONFIGS = [
  ...["lz4", "lz4hc", "blosclz", "zlib", "zstd"].flatMap((cname) =>
    [0, 1, 2].map((shuffle) => ({ id: "blosc", cname, clevel: 5, shuffle, blocksize: 0 })),
  ),
  { id: "blosc", cname: "lz4", clevel: 9, shuffle: 1, blocksize: 4096 },
  { id: "blosc", cname: "blosclz", clevel: 9, shuffle: 1, blocksize: 0 },
  { id: "lz4", acceleration: 1 },
  { id: "gzip", level: 5 },
  { id: "zlib", level: 5 },
  { id: "zstd", level: 3 },
];
const TWINS = { blosc: Blosc, lz4: LZ4, gzip: GZip, zlib: Zlib, zstd: Zstd };

describe.each(CONFIGS.map((config) => [JSON.stringify(config), config] as const))("%s", (_, config) => {
  const twin = TWINS[config.id as keyof typeof TWINS].fromConfig(config as never);

  test.each(Object.entries(INPUTS))("%s: each reads what the other wrote", async (_name, bytes) => {
    // The twin writes blosc with items of 4 bytes, whatever they are.
    const ours = await encodeBytes(config, bytes, { itemSize: 4 });
    expectSame(await twin.decode(ours.slice()), bytes);
    const theirs = await twin.encode(bytes.slice());
    expectSame(await decodeBytes(config, theirs, { size: bytes.length }), bytes);
    if (!/lz4hc/.test(JSON.stringify(config))) expect(ours.length).toBeLessThan(theirs.length * 1.1 + 20);
  });
});
