import type { ZarrArray } from "../../hierarchy/node.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { packingOf, rereadInteger } from "../../meta/conventions/cf/packing.ts";
import { FILL_VALUE_ATTRIBUTE } from "../../meta/conventions/missing-value.ts";
import type { JsonObject } from "../../util/json-value.ts";
import { slice } from "../slice.ts";
import type { DataSetArray } from "./data-set.ts";
import type { LevelShape } from "./level-plan.ts";
import { type NumberBox, type PyramidMethod, reduceBlocks } from "./reduce-blocks.ts";

/** Metadata of a coordinate, or of bounds, from the second level on. Integers become doubles to hold means. */
export function coordinateMetadata(metadata: ArrayMetadata, method: PyramidMethod): ArrayMetadata {
  if (metadata.dataType.kind === "float" || method === "nearest") return metadata;
  const { [FILL_VALUE_ATTRIBUTE]: _, _Unsigned: __, ...attributes } = metadata.attributes;
  return {
    ...metadata,
    attributes: attributes as JsonObject,
    dataType: { kind: "float", size: 8 },
    codecs: [{ name: "bytes", configuration: { endian: "little" } }],
    fillValue: { bytes: metadata.fillValue.bytes && new Uint8Array(8) },
  };
}

/** Values of a coordinate in each level: the middle of each block, or its first item. */
export async function coordinateLevels(
  { array, method = "mean", role }: DataSetArray,
  levels: readonly LevelShape[],
  { signal }: { readonly signal?: AbortSignal | undefined },
): Promise<Float64Array[]> {
  const first = await valuesOf(array, signal);
  const made: NumberBox[] = [{ items: first, shape: array.shape }];
  for (const { shape, factors } of levels.slice(1)) {
    const from = made[made.length - 1] as NumberBox;
    const items = new Float64Array(shape.reduce((a, b) => a * b, 1));
    if (role === "bounds") joinBounds(from.items as Float64Array, items, factors[0] ?? 1);
    else
      reduceBlocks(
        from,
        { items, shape },
        shape.map(() => 0),
        { method, factors, isFloat: true, missing: [Number.NaN] },
      );
    made.push({ items, shape });
  }
  return made.map(({ items }) => items as Float64Array);
}

/** Joins bounds: from the first bound of a block's first cell to the second bound of its last cell. */
function joinBounds(from: Float64Array, to: Float64Array, factor: number): void {
  const cells = from.length / 2;
  for (let i = 0; i < to.length / 2; i++) {
    const last = Math.min(cells, (i + 1) * factor) - 1;
    to[2 * i] = from[2 * i * factor] ?? Number.NaN;
    to[2 * i + 1] = from[2 * last + 1] ?? Number.NaN;
  }
}

async function valuesOf(array: ZarrArray, signal: AbortSignal | undefined): Promise<Float64Array> {
  const { data } = await slice(array, {}, { signal }).read();
  const { reread } = packingOf(array.metadata.dataType, array.metadata.attributes) ?? {};
  const meant = (value: number | bigint) => Number(reread ? rereadInteger(value, reread) : value);
  return Float64Array.from(data as ArrayLike<number | bigint>, meant);
}
