import type { ZarrArray } from "../../hierarchy/node.ts";
import type { DataTypeName } from "../../meta/data-type-name.ts";
import type { WritableStore } from "../../stores/store.ts";
import type { Region } from "../../streams/chunk.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { chunksIn } from "../../streams/regrid.ts";
import { product } from "../../util/shape.ts";
import { type CopyBoxesOptions, copyBoxes } from "../boxes.ts";
import type { AppendedPair } from "./pair-arrays.ts";

/** The part of one array that is written: new chunks, and those at the old edge that get more items. */
export interface GrowingPart extends Omit<AppendedPair, "target"> {
  readonly target: ZarrArray<DataTypeName, WritableStore>;
  /** Shape of the target after the append. */
  readonly shape: readonly number[];
  readonly fresh: Region;
  readonly ragged: Region;
}

/** Splits the appended items at the first chunk boundary. */
export function growingPart(
  pair: AppendedPair & { readonly target: ZarrArray<DataTypeName, WritableStore> },
): GrowingPart {
  const { source, target, axis, length } = pair;
  const added = source.shape[axis] ?? 0;
  const start = target.shape.map((_, d) => (d === axis ? length : 0));
  const chunk = target.chunkShape[axis] ?? 1;
  const room = Math.min(added, Math.ceil(length / chunk) * chunk - length);
  const part = (from: number, count: number): Region => ({
    start: start.with(axis, from),
    shape: source.shape.with(axis, count),
  });
  return {
    ...pair,
    shape: target.shape.with(axis, length + added),
    ragged: part(length, room),
    fresh: part(length + room, added - room),
  };
}

/** Chunks of the target that a region touches. */
export function chunksTouched({ target }: GrowingPart, region: Region): Iterable<readonly number[]> {
  return product(region.shape) === 0 ? [] : chunksIn(region, target.chunkShape);
}

/** Writes the items of one region of a part. A chunk at the old edge is read first and keeps its old items. */
export async function writePart(
  { path, source, target, shape, axis, length }: GrowingPart,
  region: Region,
  options: CopyBoxesOptions,
): Promise<void> {
  const grown = {
    store: target.store,
    path: target.path,
    metadata: { ...target.metadata, shape },
    chunkKey: (coords: readonly number[]) => target.chunkKey(coords),
    pipeline: () => target.pipeline(),
  };
  const shift = shape.map((_, d) => (d === axis ? length : 0));
  await copyBoxes({ source, path }, [grown], { region, shift }, options);
}

/** Deletes new chunks that no document covers yet, after a failed append. */
export async function removeFresh(part: GrowingPart, concurrency: number): Promise<void> {
  const { target, fresh } = part;
  const remove = (coords: readonly number[]) => target.store.delete(target.chunkKey(coords));
  await forEachConcurrent(chunksTouched(part, fresh), remove, { concurrency });
}
