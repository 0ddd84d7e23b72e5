import { isFixed } from "../../meta/data-type.ts";
import { type Buffers, joinBytes } from "../../util/bytes.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { coordsOf, cStrides, product } from "../../util/shape.ts";
import type { ChunkData, VariableData } from "../chunk-data.ts";
import type { ArrayToBytesCodec, ChunkSpec, CodecPipeline, NestingCodecFactory } from "../codec.ts";
import { fillItems, isFilled } from "../filled-data.ts";
import { copyBox } from "../kernels/copy-box.ts";
import { corrupt, foreignSizeBound, MAX_CHUNK_SIZE, offsetsOf, partFailure } from "../limits.ts";
import { type InnerRange, ShardIndex } from "./entries.ts";
import { type ShardFormat, shardFormat } from "./index-format.ts";

/**
 * `sharding_indexed`: a shard of inner chunks, each encoded on its own, and an index of their positions. This codec
 * handles a whole shard at once. Encoding leaves out inner chunks that contain only the fill value. Shards of other
 * writers may store inner chunks in any order, with gaps, and with shared bytes.
 */
export const loadSharding: NestingCodecFactory = async (configuration, { spec, pipelineOf }) => {
  if (pipelineOf === undefined) {
    throw new ZarrflowError("invalid-option", "a shard cannot be encoded without its array");
  }
  const format = await shardFormat(configuration, spec.shape, pipelineOf);
  const inner = await pipelineOf(format.codecs, { ...spec, shape: format.chunkShape });
  const { chunkShape, grid } = format;
  // The size of variable data is not known in advance.
  const maxInnerSize = isFixed(spec.dataType) ? foreignSizeBound(inner.maxEncodedSize) : MAX_CHUNK_SIZE;
  const partsSize = product(grid) * inner.maxEncodedSize;
  const boxes = isFixed(spec.dataType)
    ? fixedBoxes(spec, chunkShape, { strides: inner.strides, itemSize: spec.dataType.size })
    : variableBoxes(spec, chunkShape);

  return {
    kind: "array-to-bytes",
    name: "sharding_indexed",
    encodedSize: undefined,
    maxEncodedSize: partsSize + format.indexSize,
    scratchSize: partsSize + inner.decodedSize + inner.scratchSize,
    async decode(bytes, buffers) {
      const index = await readIndex(bytes, format);
      const shard = boxes.begin(buffers);
      try {
        let chunk = 0;
        for (const coords of coordsOf(grid)) {
          const number = chunk++;
          if (index.isEmpty(number)) continue;
          await named(coords, async () => {
            const range = index.rangeOf(number, bytes.length);
            if (range === undefined) return;
            const encoded = copyOf(bytes, range, maxInnerSize, buffers);
            shard.add(await inner.decode(encoded, buffers), coords);
          });
        }
        const data = shard.finish();
        buffers.give(bytes);
        return data;
      } catch (error) {
        shard.discard();
        throw error;
      }
    },
    async encode(data, buffers) {
      const index = ShardIndex.empty(product(grid));
      const parts: Uint8Array[] = [];
      const indexAtStart = format.indexLocation === "start";
      let end = indexAtStart ? format.indexSize : 0;
      try {
        let chunk = 0;
        for (const coords of coordsOf(grid)) {
          const number = chunk++;
          const part = await named(coords, () =>
            encodeInner(boxes.cut(data, coords, buffers), inner, buffers),
          );
          if (part === undefined) continue;
          parts.push(part);
          index.set(number, { offset: end, length: part.length });
          end += part.length;
        }
        const encodedIndex = await format.encodeIndex(index);
        const all = indexAtStart ? [encodedIndex, ...parts] : [...parts, encodedIndex];
        const shard = joinBytes(all, (byteLength) => buffers.take(byteLength));
        buffers.give(data.bytes);
        return shard;
      } finally {
        for (const part of parts) buffers.give(part);
      }
    },
  } satisfies ArrayToBytesCodec;
};

/** @throws `corrupt-chunk` */
function readIndex(
  shard: Uint8Array,
  { indexLocation, indexSize, decodeIndex }: ShardFormat,
): Promise<ShardIndex> {
  return decodeIndex(indexLocation === "start" ? shard.slice(0, indexSize) : shard.slice(-indexSize));
}

/** Copies an encoded inner chunk to its own buffer: codecs work in place, and inner chunks may share bytes. */
function copyOf(
  shard: Uint8Array,
  { offset, length }: InnerRange,
  maxSize: number,
  buffers: Buffers,
): Uint8Array {
  if (length > maxSize) {
    throw corrupt("the inner chunk is larger than its metadata allows", {
      expected: `at most ${maxSize} bytes`,
      found: `${length} bytes`,
    });
  }
  const bytes = buffers.take(length);
  bytes.set(shard.subarray(offset, offset + length));
  return bytes;
}

/** Encodes an inner chunk; returns undefined if it contains only the fill value. Takes ownership of `data`. */
async function encodeInner(
  data: ChunkData,
  inner: CodecPipeline,
  buffers: Buffers,
): Promise<Uint8Array | undefined> {
  const { fillValue } = inner.spec;
  if (fillValue === null || !isFilled(data, fillValue)) return inner.encode(data, buffers);
  buffers.give(data.bytes);
  return undefined;
}

async function named<T>(coords: readonly number[], run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw isZarrflowError(error) ? partFailure(`inner chunk ${coords.join(".") || "0"}`, error) : error;
  }
}

/** Moves items between whole shards and their inner chunks. */
export interface ShardBoxes {
  /** Copies the inner chunk at `coords` out of a shard, in the layout that its codecs need. */
  cut(data: ChunkData, coords: readonly number[], buffers: Buffers): ChunkData;
  /** Starts a shard to be filled with inner chunks; inner chunks that are never added read as the fill value. */
  begin(buffers: Buffers): ShardAssembly;
}

export interface ShardAssembly {
  /** Takes ownership of `data`. */
  add(data: ChunkData, coords: readonly number[]): void;
  /** Returns all items in C order, in a buffer from the pool. */
  finish(): ChunkData;
  /** Gives the buffers back; called in place of `finish`. */
  discard(): void;
}

interface ItemLayout {
  /** Strides of an inner chunk, in items. */
  readonly strides: readonly number[];
  readonly itemSize: number;
}

/** Boxes for items of fixed size: the shard is one buffer, copied by strides. */
export function fixedBoxes(
  { shape, fillValue }: ChunkSpec,
  chunkShape: readonly number[],
  { strides, itemSize }: ItemLayout,
): ShardBoxes {
  const shardStrides = cStrides(shape);
  const boxAt = (coords: readonly number[]) => ({
    offset: coords.reduce((sum, c, d) => sum + c * (chunkShape[d] ?? 1) * (shardStrides[d] ?? 0), 0),
    strides: shardStrides,
  });
  const chunkSize = product(chunkShape) * itemSize;
  return {
    cut(data, coords, buffers) {
      const bytes = buffers.take(chunkSize);
      copyBox(data.bytes, boxAt(coords), bytes, { offset: 0, strides }, chunkShape, itemSize);
      return { kind: "fixed", bytes, itemSize, shape: chunkShape, strides };
    },
    begin(buffers) {
      const bytes = buffers.take(product(shape) * itemSize);
      fillItems(bytes, fillValue);
      return {
        add(data, coords) {
          if (data.kind !== "fixed")
            throw new ZarrflowError("codec-error", "an inner chunk does not have fixed-size items");
          const from = { offset: 0, strides: data.strides };
          copyBox(data.bytes, from, bytes, boxAt(coords), chunkShape, itemSize);
          buffers.give(data.bytes);
        },
        finish: () => ({ kind: "fixed", bytes, itemSize, shape, strides: shardStrides }),
        discard: () => buffers.give(bytes),
      };
    },
  };
}

/** Boxes for items of varying size: moved item by item, in C order. */
export function variableBoxes({ shape, fillValue }: ChunkSpec, chunkShape: readonly number[]): ShardBoxes {
  const places = placesWithin(shape, chunkShape);
  return {
    cut(data, coords, buffers) {
      const { bytes, offsets } = asVariable(data);
      const items = places(coords);
      const lengths = items.map((item) => (offsets[item + 1] ?? 0) - (offsets[item] ?? 0));
      const ends = offsetsOf(lengths, tooLarge);
      const cut = buffers.take(ends[items.length] ?? 0);
      items.forEach((item, i) => {
        cut.set(bytes.subarray(offsets[item], offsets[item + 1]), ends[i]);
      });
      return { kind: "variable", bytes: cut, offsets: ends, shape: chunkShape };
    },
    begin(buffers) {
      const fill = fillValue ?? new Uint8Array(0);
      const lengths = new Uint32Array(product(shape)).fill(fill.length);
      const parts: { readonly data: VariableData; readonly items: Uint32Array }[] = [];
      let size = 0;
      const discard = () => {
        for (const { data } of parts) buffers.give(data.bytes);
      };
      return {
        add(data, coords) {
          const part = { data: asVariable(data), items: places(coords) };
          parts.push(part);
          size += data.bytes.length;
          // Check the sum: inner chunks may share bytes, so that a small shard can decode to very many.
          if (size > MAX_CHUNK_SIZE) throw tooLarge(size);
          const { offsets } = part.data;
          part.items.forEach((item, i) => {
            lengths[item] = (offsets[i + 1] ?? 0) - (offsets[i] ?? 0);
          });
        },
        finish() {
          const offsets = offsetsOf(lengths, tooLarge);
          const bytes = buffers.take(offsets[lengths.length] ?? 0);
          if (fill.length > 0) {
            lengths.forEach((length, item) => {
              if (length === fill.length) bytes.set(fill, offsets[item]);
            });
          }
          for (const { data, items } of parts) {
            items.forEach((item, i) => {
              bytes.set(data.bytes.subarray(data.offsets[i], data.offsets[i + 1]), offsets[item]);
            });
          }
          discard();
          return { kind: "variable", bytes, offsets, shape };
        },
        discard,
      };
    },
  };
}

/** Returns a function from the coords of an inner chunk to the indexes of its items in the shard, both in C order. */
function placesWithin(shape: readonly number[], chunkShape: readonly number[]) {
  const strides = cStrides(shape);
  const placeOf = (coords: readonly number[]) => coords.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), 0);
  const inside = Uint32Array.from(coordsOf(chunkShape), placeOf);
  return (coords: readonly number[]): Uint32Array => {
    const start = placeOf(coords.map((c, d) => c * (chunkShape[d] ?? 1)));
    return inside.map((place) => start + place);
  };
}

function tooLarge(found: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "a shard of variable-size items exceeds the limit of 2 GiB", {
    expected: MAX_CHUNK_SIZE,
    found,
  });
}

function asVariable(data: ChunkData): VariableData {
  if (data.kind === "variable") return data;
  throw new ZarrflowError("codec-error", "the items are not of variable size");
}
