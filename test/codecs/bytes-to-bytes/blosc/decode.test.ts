// @module-tag sampled
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBlockRange, decodeBlocks } from "../../../../src/codecs/bytes-to-bytes/blosc/decode.ts";
import { readHeader } from "../../../../src/codecs/bytes-to-bytes/blosc/frame.ts";
import { type InnerCodec, innerCodec } from "../../../../src/codecs/bytes-to-bytes/blosc/inner-codecs.ts";
import { encodeBytes } from "../../../../src/codecs/standalone/decode-bytes.ts";
import { isZarrflowError } from "../../../../src/util/errors.ts";
import { drawsAll, samples } from "../../../support/samples.ts";
import { chunkBytes, expectSame, guarded, randomNumbers } from "../../support.ts";

const values = fc
  .record({
    cname: fc.constantFrom("lz4", "lz4", "blosclz", "snappy"),
    shuffle: fc.constantFrom("noshuffle", "shuffle", "shuffle", "bitshuffle"),
    typesize: fc.integer({ min: 1, max: 20 }),
    blocksize: fc.constantFrom(0, 128, 1000, 2048, 8000),
  })
  .chain((config) => fc.tuple(fc.constant(config), chunkBytes(12_000)));

/** By block kernels, and without them. */
async function decodersOf(cname: string): Promise<readonly InnerCodec[]> {
  const inner = await innerCodec(cname as "lz4");
  const { kernelEffort: _, ...plain } = inner;
  return [inner, plain];
}

/** Decodes a part of a value; undefined where it is refused. */
function partOf(value: Uint8Array, inner: InnerCodec, start: number, end: number): Uint8Array | undefined {
  const { bytes, check } = guarded(end - start);
  try {
    const header = readHeader(value);
    if (header.isStored || end > header.size) return undefined;
    if (start === 0 && end === header.size) decodeBlocks(value, header, inner, bytes);
    else decodeBlockRange(value, header, inner, start, bytes);
    return bytes;
  } catch (error) {
    if (isZarrflowError(error, "corrupt-chunk") || isZarrflowError(error, "codec-error")) return undefined;
    throw error;
  } finally {
    check();
  }
}

test("a part is what the whole has there, with block kernels and without", async () => {
  let parts = 0;
  await fc.assert(
    fc.asyncProperty(values, fc.nat(), fc.nat(), async ([config, data], from, length) => {
      const value = await encodeBytes({ id: "blosc", clevel: 5, ...config }, data);
      if (data.length === 0 || readHeader(value).isStored) return;
      const start = from % data.length;
      const end = start + 1 + (length % (data.length - start));
      for (const inner of await decodersOf(config.cname)) {
        parts++;
        expectSame(partOf(value, inner, start, end), data.subarray(start, end));
      }
    }),
    { numRuns: samples(300) },
  );
  // of a few, chance may choose hardly any
  if (drawsAll) expect(parts).toBeGreaterThan(100);
});

test("a value that is cut anywhere gives no part of itself", async () => {
  const random = randomNumbers(3);
  const data = Uint8Array.from({ length: 1500 }, (_, i) => i / 40 + random(3));
  for (const shuffle of ["noshuffle", "shuffle", "bitshuffle"]) {
    const config = { id: "blosc", cname: "lz4", clevel: 5, shuffle, typesize: 4, blocksize: 500 };
    const value = await encodeBytes(config, data);
    for (const inner of await decodersOf("lz4")) {
      for (let length = 0; length < value.length; length++) {
        expect(partOf(value.slice(0, length), inner, 400, 1200)).toBeUndefined();
      }
    }
  }
});

test("changed values get the same verdict with block kernels and without, and the same bytes", async () => {
  const random = randomNumbers(8);
  const [inner, plain] = (await decodersOf("lz4")) as [InnerCodec, InnerCodec];
  let refused = 0;
  for (let round = 0; round < 600; round++) {
    const data = Uint8Array.from({ length: 1600 }, (_, i) => i / 60 + random(1 + (i % 5)));
    const shuffle = ["noshuffle", "shuffle", "bitshuffle"][round % 3] ?? "";
    const config = { id: "blosc", cname: "lz4", clevel: 5, shuffle, typesize: 1 + random(8), blocksize: 0 };
    const value = await encodeBytes(config, data);
    for (let change = random(4); change >= 0; change--) {
      value[16 + random(value.length - 16)] = random(256);
    }
    const start = random(data.length);
    const end = start + 1 + random(data.length - start);
    const part = partOf(value, inner, start, end);
    expect(part).toEqual(partOf(value, plain, start, end));
    if (part === undefined) refused++;
  }
  expect(refused).toBeGreaterThan(50);
  expect(refused).toBeLessThan(550);
});
