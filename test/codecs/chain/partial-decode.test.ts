// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../src/codecs/chain/codec-chain.ts";
import type { ChunkData } from "../../../src/codecs/chunk-data.ts";
import type { ChunkSpec } from "../../../src/codecs/codec.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import { plainBuffers } from "../../../src/util/bytes.ts";
import { coordsOf, cStrides, product } from "../../../src/util/shape.ts";
import { samples } from "../../support/samples.ts";

const shape = [40, 30, 400];
const spec: ChunkSpec = { shape, dataType: { kind: "float", size: 4 }, fillValue: null };
const bytes = (endian: string): CodecConfig => ({ name: "bytes", configuration: { endian } });
const transpose: CodecConfig = { name: "transpose", configuration: { order: [2, 0, 1] } };
/** Blocks of 16 KiB, so that a chunk has many. */
const blosc: CodecConfig = {
  name: "blosc",
  configuration: { cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 4, blocksize: 16384 },
};

const oneBlock: CodecConfig = { name: "blosc", configuration: { ...blosc.configuration, blocksize: 0 } };
const lz4: CodecConfig = { name: "lz4", configuration: { acceleration: 1 } };

const chains: readonly [string, readonly CodecConfig[]][] = [
  ["plain", [bytes("little")]],
  ["big-endian", [bytes("big")]],
  ["transposed", [transpose, bytes("little")]],
  ["blosc", [bytes("little"), blosc]],
  ["blosc of one block", [bytes("little"), oneBlock]],
  ["lz4", [bytes("little"), lz4]],
  ["transposed, big-endian blosc", [transpose, bytes("big"), blosc]],
];

async function made(codecs: readonly CodecConfig[]) {
  const pipeline = await createPipeline(codecs, spec);
  const items = Float32Array.from({ length: product(shape) }, (_, i) => Math.sin(i / 100));
  const { strides } = pipeline;
  const data = new Float32Array(items.length);
  let i = 0;
  for (const coords of coordsOf(shape)) data[placeOf(coords, strides)] = items[i++] ?? 0;
  const chunk = { kind: "fixed", bytes: new Uint8Array(data.buffer), itemSize: 4, shape, strides } as const;
  return { pipeline, items, encoded: await pipeline.encode(chunk, plainBuffers) };
}

function placeOf(coords: readonly number[], strides: readonly number[]): number {
  return coords.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), 0);
}

function itemAt(data: ChunkData, coords: readonly number[]): number | undefined {
  if (data.kind !== "fixed") return undefined;
  const at = placeOf(coords, data.strides) * 4;
  return new DataView(data.bytes.buffer, data.bytes.byteOffset + at, 4).getFloat32(0, true);
}

const run = (n: number) =>
  fc.tuple(fc.nat(n - 1), fc.nat(n - 1)).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) + 1 }));

describe.each(chains)("a part of a chunk, %s", (_, codecs) => {
  test("is the items of its box, and spares half of the chunk", async () => {
    const { pipeline, items, encoded } = await made(codecs);
    let parts = 0;
    await fc.assert(
      fc.asyncProperty(fc.tuple(run(40), run(30), run(400)), async (runs) => {
        const box = { start: runs.map(({ from }) => from), shape: runs.map(({ from, to }) => to - from) };
        const part = pipeline.partOf?.(box);
        if (part === undefined) return;
        parts++;
        expect(product(part.shape)).toBeLessThanOrEqual(product(shape) / 2);
        const { range } = part;
        const stored = range ? encoded.slice(range.offset, range.offset + range.length) : encoded.slice();
        const data = await part.decode(stored, plainBuffers);
        expect(data.bytes.length).toBe(product(part.shape) * 4);
        const corners = [box.start, box.start.map((from, d) => from + (box.shape[d] ?? 1) - 1)];
        for (const coords of corners) {
          const within = coords.map((c, d) => c - (part.start[d] ?? 0));
          expect(itemAt(data, within)).toBe(items[placeOf(coords, cStrides(shape))]);
        }
      }),
      { numRuns: samples(60) },
    );
    expect(parts).toBeGreaterThan(0);
  });

  test("is refused where its bytes are cut off", async () => {
    const { pipeline, encoded } = await made(codecs);
    const order = pipeline.strides.indexOf(Math.max(...pipeline.strides));
    const part = pipeline.partOf?.({ start: [0, 0, 0], shape: shape.map((n, d) => (d === order ? 2 : n)) });
    const cut = encoded.slice(0, Math.min(part?.range?.length ?? 2000, encoded.length) - 1);
    await expect(part?.decode(cut, plainBuffers)).rejects.toMatchObject({ code: "corrupt-chunk" });
  });
});

test.each([
  ["zstd", [bytes("little"), { name: "zstd", configuration: { level: 1, checksum: false } }]],
  ["a checksum", [bytes("little"), { name: "crc32c", configuration: {} }]],
])("behind %s chunks are decoded whole", async (_, codecs) => {
  expect((await createPipeline(codecs, spec)).partOf).toBeUndefined();
});
