import fc from "fast-check";
import type { NewArray } from "../../src/hierarchy/create-metadata.ts";
import { product } from "../../src/util/shape.ts";

const BYTES = { name: "bytes", configuration: { endian: "little" } };
const CRC = { name: "crc32c" };

/** A grid along one dimension: items, and what chunks and shards hold of them. */
const axis = fc.record({
  n: fc.integer({ min: 1, max: 15 }),
  chunk: fc.integer({ min: 1, max: 4 }),
  shard: fc.integer({ min: 1, max: 4 }),
  deep: fc.integer({ min: 1, max: 2 }),
  newChunk: fc.integer({ min: 1, max: 6 }),
  newShard: fc.integer({ min: 1, max: 3 }),
});

/** Arrays of `uint16` in shards of all kinds, and the grid to re-cut them to. */
export const sharded = fc
  .record({
    axes: fc.array(axis, { maxLength: 3 }),
    compressed: fc.boolean(),
    kind: fc.constantFrom("plain", "transposed", "inner transposed", "nested", "codec after"),
    location: fc.constantFrom("start", "end"),
    checked: fc.boolean(),
    filled: fc.constantFrom(0, 0.3, 0.9, 1),
    seed: fc.nat(1e6),
  })
  .map(({ axes, compressed, kind, location, checked, ...rest }) => {
    const rank = axes.length;
    const reversed = Array.from({ length: rank }, (_, d) => rank - 1 - d);
    const transpose = { name: "transpose", configuration: { order: reversed } };
    const ofShard = (sizes: number[]) => (kind === "transposed" ? sizes.toReversed() : sizes);
    const index = { index_codecs: checked ? [BYTES, CRC] : [BYTES], index_location: location };
    const shards = (chunk: number[], codecs: readonly object[]) => ({
      name: "sharding_indexed",
      configuration: { chunk_shape: ofShard(chunk), codecs, ...index },
    });
    const own = [
      ...(kind === "inner transposed" ? [transpose] : []),
      BYTES,
      ...(compressed ? [{ name: "zstd", configuration: { level: 1, checksum: false } }] : []),
    ];
    const chunk = axes.map((a) => a.chunk);
    const middle = axes.map((a) => a.chunk * a.shard);
    const isNested = kind === "nested";
    const codecs = [
      ...(kind === "transposed" ? [transpose] : []),
      isNested ? shards(middle, [shards(chunk, own)]) : shards(chunk, own),
      ...(kind === "codec after" ? [CRC] : []),
    ];
    const array = {
      shape: axes.map((a) => a.n),
      dataType: "uint16",
      chunks: isNested ? axes.map((a) => a.chunk * a.shard * a.deep) : middle,
      codecs,
      fillValue: 7,
    } satisfies NewArray;
    const chunks = axes.map((a) => a.newChunk);
    return { array, kind, chunk, chunks, shards: axes.map((a) => a.newChunk * a.newShard), ...rest };
  });

/** Items of such an array in C order: runs of the fill value, and numbers. */
export function shardedItems(shape: readonly number[], filled: number, seed: number): Uint16Array {
  return Uint16Array.from({ length: product(shape) }, (_, i) =>
    ((i >> 2) * 7919 + seed) % 100 < filled * 100 ? 7 : (i * 2654435761 + seed) >>> 16,
  );
}
