import fc from "fast-check";
import type { NewArray } from "../../src/hierarchy/create/metadata.ts";
import { product } from "../../src/util/shape.ts";

const bytes = (endian: string) => ({ name: "bytes", configuration: { endian } });
const CRC = { name: "crc32c" };
/** What may come after `bytes` in an inner chunk. */
const COMPRESSORS = {
  none: [],
  zstd: [{ name: "zstd", configuration: { level: 1, checksum: false } }],
  gzip: [{ name: "gzip", configuration: { level: 1 } }],
  blosc: [
    {
      name: "blosc",
      configuration: { cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 2, blocksize: 0 },
    },
  ],
  checked: [{ name: "zstd", configuration: { level: 1, checksum: true } }, CRC],
} as const;

/** A grid along one dimension: items, and what chunks and shards hold of them. */
const axis = fc.record({
  n: fc.oneof(
    { weight: 19, arbitrary: fc.integer({ min: 1, max: 15 }) },
    { weight: 1, arbitrary: fc.constant(0) },
  ),
  chunk: fc.integer({ min: 1, max: 4 }),
  shard: fc.integer({ min: 1, max: 4 }),
  deep: fc.integer({ min: 1, max: 2 }),
  newChunk: fc.integer({ min: 1, max: 6 }),
  newShard: fc.integer({ min: 1, max: 3 }),
});

/** Arrays of `uint16` in shards of all kinds, and the grid to rechunk them to. */
export const sharded = fc
  .record({
    axes: fc.array(axis, { maxLength: 3 }).chain((axes) => {
      const dimensions = axes.map((_, d) => d);
      const order = fc.shuffledSubarray(dimensions, { minLength: axes.length });
      return fc.record({ axes: fc.constant(axes), order });
    }),
    compressor: fc.constantFrom(...(Object.keys(COMPRESSORS) as (keyof typeof COMPRESSORS)[])),
    kind: fc.constantFrom("plain", "transposed", "inner transposed", "nested", "codec after"),
    endian: fc.constantFrom("little", "big"),
    indexEndian: fc.constantFrom("little", "big"),
    location: fc.constantFrom("start", "end"),
    checked: fc.boolean(),
    filled: fc.constantFrom(0, 0.3, 0.9, 1),
    seed: fc.nat(1e6),
  })
  .map(({ axes: { axes, order }, compressor, kind, endian, indexEndian, location, checked, ...rest }) => {
    const transpose = { name: "transpose", configuration: { order } };
    const ofShard = (sizes: number[]) => (kind === "transposed" ? order.map((d) => sizes[d] ?? 1) : sizes);
    const index = {
      index_codecs: checked ? [bytes(indexEndian), CRC] : [bytes(indexEndian)],
      index_location: location,
    };
    const shards = (chunk: number[], codecs: readonly object[]) => ({
      name: "sharding_indexed",
      configuration: { chunk_shape: ofShard(chunk), codecs, ...index },
    });
    const own = [
      ...(kind === "inner transposed" ? [transpose] : []),
      bytes(endian),
      ...COMPRESSORS[compressor],
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
