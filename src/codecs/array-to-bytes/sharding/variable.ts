import { ZarrflowError } from "../../../util/errors.ts";
import { coordsOf, cStrides, product } from "../../../util/shape.ts";
import type { ChunkData, VariableData } from "../../chunk-data.ts";
import type { ChunkSpec } from "../../codec.ts";
import { MAX_CHUNK_SIZE } from "../../limits.ts";
import { offsetsOf } from "../item-offsets.ts";
import type { ShardBoxes } from "./boxes.ts";

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
  return new ZarrflowError("resource-limit", "a shard of variable data is above the limit of 2 GiB", {
    expected: MAX_CHUNK_SIZE,
    found,
  });
}

function asVariable(data: ChunkData): VariableData {
  if (data.kind === "variable") return data;
  throw new ZarrflowError("codec-error", "the items do not have variable size");
}
