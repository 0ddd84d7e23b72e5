import { type ArrayMetadata, gridShape, type NodeMetadata } from "../../meta/array-metadata.ts";
import type { ConventionNote } from "../../meta/conventions/convention.ts";
import { assertWritable } from "../../stores/assertions.ts";
import { isListable, type StoreOptions, type WritableStore } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { jsonEqual } from "../../util/json-value.ts";
import { checkedOptions, invalidOption, type OptionNames } from "../../util/options.ts";
import { coordsOf } from "../../util/shape.ts";
import { withChunkSeparator } from "../chunk-separator.ts";
import type { ZarrArray, ZarrNode } from "../node.ts";
import { openNode } from "../open/open-node.ts";
import { editedAlong } from "../other-format.ts";
import { withLockedPlace } from "../parent-hierarchy.ts";
import type { ReadDocumentOptions } from "../stored-documents.ts";
import { ConsolidatedMetadata } from "./consolidated.ts";
import { type FollowingNode, following, writeFollowing } from "./followers.ts";
import { alongside, changedDocuments, changeMetadata } from "./metadata.ts";
import { nodeToEdit, parentHierarchyOfNode } from "./parent.ts";

export interface ResizeOptions {
  /**
   * Treatment of chunks outside the array, before it grows and after it shrinks: `keep` leaves them, so they reappear
   * when the array grows over them.
   *
   * @default "keep"
   */
  readonly outside?: "keep" | "delete" | undefined;
  /** Maximum number of requests in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  /** Called for each part of the metadata that is removed because it cannot be adapted to the new shape. */
  readonly onWarning?: ((warning: ConventionNote) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const RESIZE_OPTIONS: OptionNames<ResizeOptions> = {
  outside: true,
  concurrency: true,
  onWarning: true,
  signal: true,
};

/**
 * Changes the shape of an array, given open or by its URL, to another of the same rank; chunks are not changed. New
 * items read as the fill value, except where chunks already exist: at the old edge, or outside it and kept, items read
 * as they were last written. Consolidated metadata are updated, as are attributes of the array and of nodes around it
 * that repeat its shape; those that cannot be adapted are removed with a warning.
 *
 * @param shape in items.
 * @returns the array with its new shape.
 * @throws `invalid-option` for another rank, an invalid shape or a group; `not-found` if it no longer exists;
 *   `unsupported-operation` if the store is not writable, or cannot list chunks to be deleted; `locked` while another
 *   run writes there.
 * @example
 * ```ts
 * import { resizeArray } from "zarrflow";
 *
 * const day = await resizeArray("era5.zarr/t2m", [24, 33, 49], { outside: "delete" });
 * console.log(day.shape.join(" x ")); // 24 x 33 x 49
 * ```
 */
export async function resizeArray(
  source: ZarrArray | string,
  shape: readonly number[],
  given: ResizeOptions = {},
): Promise<ZarrArray> {
  const { outside = "keep", concurrency = 16, onWarning, signal } = checkedOptions(given, RESIZE_OPTIONS);
  if (!Array.isArray(shape))
    throw invalidOption("the new shape is not valid", "a list of whole numbers", shape);
  const asked = await nodeToEdit(source, signal);
  const node = asked.kind === "array" ? await withChunkSeparator(asked, { signal }) : asked;
  const store = assertWritable(node.store);
  const remove = async (keys: AsyncIterable<string>) => {
    if (outside === "keep") return;
    await forEachConcurrent(keys, (key) => store.delete(key, { signal }), { concurrency, signal });
  };
  const hierarchyAround = await parentHierarchyOfNode(node);
  let old: readonly number[] = [];
  let around: readonly FollowingNode[] = [];
  let warnings: readonly ConventionNote[] = [];
  const resize = async (metadata: NodeMetadata) => {
    assertShape(node.path, metadata, shape);
    old = metadata.shape;
    if (shape.some((size, d) => size > (old[d] ?? 0))) await remove(chunksOutside(node, metadata, signal));
    const reshaped = { path: hierarchyAround.path, before: metadata, shape };
    const followed = await following(hierarchyAround, node, [reshaped], { ...node.reading, signal });
    around = followed.nodes.filter(({ path }) => path !== hierarchyAround.path);
    warnings = followed.warnings;
    return (
      followed.nodes.find(({ path }) => path === hierarchyAround.path)?.metadata ?? { ...metadata, shape }
    );
  };
  const change = async () => {
    const resized = await changeMetadata(node, hierarchyAround, resize, { along: alongside, signal });
    if (resized.kind === "group") throw noArray(resized.path);
    await writeFollowing(hierarchyAround, node, around, signal);
    for (const warning of warnings) onWarning?.(warning);
    if (shape.some((size, d) => size < (old[d] ?? 0))) {
      await remove(chunksOutside(node, resized.metadata, signal, old));
    }
    return resized;
  };
  return withLockedPlace(hierarchyAround, change, { isArray: true, signal });
}

function assertShape(
  path: string,
  metadata: NodeMetadata,
  shape: readonly number[],
): asserts metadata is ArrayMetadata {
  if (metadata.kind === "group") throw noArray(path);
  const isShape = shape.every((size) => Number.isSafeInteger(size) && size >= 0);
  if (isShape && shape.length === metadata.shape.length) return;
  throw new ZarrflowError("invalid-option", "the new shape needs a whole number for each dimension", {
    path,
    expected: `${metadata.shape.length} dimensions`,
    found: shape.join(", "),
  });
}

function noArray(path: string): ZarrflowError {
  return new ZarrflowError("invalid-option", "only an array has a shape", { path });
}

/**
 * Keys of stored chunks outside an array's grid. If the store cannot list, keys of all such chunks in the grid of
 * `old`.
 *
 * @throws `unsupported-operation` if the store cannot list and there is no `old`.
 */
async function* chunksOutside(
  { store, path, layout }: ZarrNode,
  { shape, chunkGrid, chunkKeyEncoding }: ArrayMetadata,
  signal: AbortSignal | undefined,
  old?: readonly number[],
): AsyncGenerator<string> {
  const grid = gridShape(shape, chunkGrid.chunkShape);
  const isOutside = (coords: readonly number[]) => coords.some((at, d) => at >= (grid[d] ?? 0));
  if (isListable(store)) {
    for await (const { key } of store.list(layout.chunksPrefix, { signal })) {
      const coords = layout.parseChunkKey(key, shape.length, chunkKeyEncoding);
      if (coords && isOutside(coords)) yield key;
    }
  } else if (old) {
    for (const coords of coordsOf(gridShape(old, chunkGrid.chunkShape))) {
      if (isOutside(coords)) yield layout.chunkKey(coords, chunkKeyEncoding);
    }
  } else {
    throw new ZarrflowError("unsupported-operation", "this store cannot list the chunks outside the array", {
      store: store.description,
      path,
      hint: 'Resize with `outside: "keep"`; chunks that exist there become visible again if the array grows.',
    });
  }
}

export interface GrowOptions extends ReadDocumentOptions {
  /** Paths of the groups whose consolidated metadata list the nodes. */
  readonly groups: readonly string[];
}

/**
 * Enlarges the shapes of arrays whose new chunks are already written, and updates metadata of nodes around them.
 * Readers see each array either before or after the change. Consolidated metadata change first, for all nodes at once,
 * then the documents in the order of the nodes. A failure restores the previous metadata.
 *
 * @param node one of the arrays, or the group that contains them
 * @throws `target-exists` if a node has changed in the meantime.
 */
export async function growArrays(
  {
    store,
    spec,
    reading: readAs,
    layout,
  }: Pick<ZarrNode, "spec" | "reading" | "layout"> & {
    readonly store: WritableStore;
  },
  growths: readonly FollowingNode[],
  { groups, ...reading }: GrowOptions,
): Promise<void> {
  const before = new Map<string, Uint8Array>();
  const after = new Map<string, Uint8Array | undefined>();
  const asked = { ...readAs, ...reading, spec, zarrFormat: layout.zarrFormat };
  for (const growth of growths) {
    const now = await openNode(store, growth.path, asked);
    if (now === undefined || !isAsBefore(now.metadata, growth.before))
      throw changedMeanwhile(store, growth.path);
    const other = await editedAlong(now, reading);
    for (const described of other ? [now, other] : [now]) {
      const metadata =
        described === now ? growth.metadata : alongside(described.metadata, growth.before, growth.metadata);
      for (const [key, bytes] of changedDocuments(described, metadata, undefined)) {
        const old = described.documents.get(key);
        if (old) before.set(key, old);
        after.set(key, bytes);
      }
    }
  }
  const consolidated = await ConsolidatedMetadata.find(store, groups, reading);
  const write = async (key: string, bytes: Uint8Array | undefined, options: StoreOptions = {}) => {
    if (consolidated.carries(key)) return;
    await (bytes ? store.set(key, bytes, options) : store.delete(key, options));
  };
  try {
    await consolidated.write({ written: after });
    for (const [key, bytes] of after) await write(key, bytes, { signal: reading.signal });
  } catch (error) {
    const back = new Map([...after.keys()].map((key) => [key, before.get(key)]));
    for (const [key, bytes] of back) await write(key, bytes).catch(() => {});
    await consolidated.write({ written: back }).catch(() => {});
    throw error;
  }
}

/** True if the documents of a node are as they were when its change was planned. */
function isAsBefore(now: NodeMetadata, before: NodeMetadata): boolean {
  const isSameShape =
    now.kind === "group" || (before.kind === "array" && `${now.shape}` === `${before.shape}`);
  return now.kind === before.kind && isSameShape && jsonEqual(now.attributes, before.attributes);
}

function changedMeanwhile({ description }: WritableStore, path: string): ZarrflowError {
  return new ZarrflowError("target-exists", "the target changed after the append was planned", {
    store: description,
    path,
    hint: "Run it again.",
  });
}
