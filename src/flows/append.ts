import { withChunkSeparator } from "../hierarchy/chunk-separator.ts";
import { type Following, following } from "../hierarchy/edit/followers.ts";
import { type ParentHierarchy, parentHierarchyOfNode } from "../hierarchy/edit/parent.ts";
import { growArrays } from "../hierarchy/edit/resize.ts";
import type { ZarrArray, ZarrNode } from "../hierarchy/node.ts";
import { axesFromAbove } from "../hierarchy/open/above-on-use.ts";
import type { OpenSource } from "../hierarchy/open/open.ts";
import { openNode } from "../hierarchy/open/open-node.ts";
import { editedAlong } from "../hierarchy/other-format.ts";
import { type LockedPlace, lockPlace } from "../hierarchy/parent-hierarchy.ts";
import { leaseMemory } from "../hierarchy/read-options.ts";
import { isFixed } from "../meta/data-type.ts";
import type { DataTypeName } from "../meta/data-type-name.ts";
import type { ReadEventOptions } from "../run/events.ts";
import { SourceWatch } from "../run/source-watch.ts";
import { assertWritable } from "../stores/assertions.ts";
import type { WritableStore } from "../stores/store.ts";
import { childSpec } from "../stores/store-spec.ts";
import { BufferPool } from "../streams/buffer-pool.ts";
import { memoryLimit } from "../streams/byte-budget.ts";
import type { Region } from "../streams/chunk.ts";
import { forEachConcurrent } from "../streams/for-each-concurrent.ts";
import { chunksIn } from "../streams/regrid.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { ancestorPaths, belowPath, isAtOrBelow, joinKey } from "../util/node-path.ts";
import { checkedOptions, invalidOption, type OptionNames } from "../util/options.ts";
import { product } from "../util/shape.ts";
import { assertImagesStay, assertLevelContinues, assertRastersContinue } from "./append/assert-places.ts";
import {
  type AppendedPair,
  assertContinues,
  assertEqual,
  assertSameKind,
  isGrowingCoordinate,
  type NodesByKind,
  pairArrays,
  walkByKind,
} from "./append/pairs.ts";
import { type CopyBoxesOptions, copyBoxes } from "./boxes.ts";
import { UNPACED_OPTIONS, type UnpacedOptions } from "./request/flow-options.ts";
import { type OpenedSource, openSource } from "./request/open-source.ts";
import { noteAccess } from "./request/option-effects.ts";
import { usualConcurrency } from "./request/store-settings.ts";
import { assertApart } from "./target/flow-target.ts";

export interface AppendOptions extends UnpacedOptions {
  /**
   * Dimension, or axis of an image, along which arrays grow: its name, or its number (`0`) if dimensions have no names.
   */
  readonly dim: string;
  /** Also writes chunks that contain only the fill value. */
  readonly writeEmptyChunks?: boolean | undefined;
  /** Checks everything without writing. */
  readonly dryRun?: boolean | undefined;
}

const APPEND_OPTIONS: OptionNames<AppendOptions> = {
  ...UNPACED_OPTIONS,
  dim: true,
  writeEmptyChunks: true,
  dryRun: true,
};

/** An array that has grown. */
export interface AppendedArray {
  /** Path below the given node; "" for the node itself. */
  readonly path: string;
  readonly dataType: string;
  readonly dimensionNames?: readonly (string | null)[];
  /** Shapes in items, before and after. */
  readonly before: readonly number[];
  readonly shape: readonly number[];
  /** Chunks (or shards) that are new, and those at the old edge that were rewritten with more items. */
  readonly newChunks: number;
  readonly rewrittenChunks: number;
}

export interface AppendReport {
  readonly arrays: readonly AppendedArray[];
  /** Paths of the arrays without the dimension, which are equal in source and target. */
  readonly equal: readonly string[];
  readonly seconds: number;
  /** Peak bytes of item buffers. */
  readonly peakBuffers: number;
}

/**
 * Appends the arrays of a source to those of an existing target along one dimension. In a group, every array that has
 * the dimension grows; the others must be equal. The target keeps its data types, chunks and codecs. Of the stored
 * chunks, only partial ones at the old edge are rewritten.
 *
 * Coordinates must continue: the first value of the source follows the last of the target, in the target's sort order,
 * with the same units and calendar. Images and rasters without coordinates must continue in the positions that their
 * metadata state.
 *
 * Attributes that repeat a shape are updated, on the arrays and on the groups around them. Those that cannot be updated
 * are removed with a warning.
 *
 * Readers see the old target until all chunks are written. Then the consolidated metadata change, for all arrays at
 * once, followed by the array documents, the coordinate's last. If the run is killed, each array is either as before or
 * complete; repeating the call completes the rest.
 *
 * @throws `not-found` if there is no target; `invalid-option` if the target lacks the dimension, or coordinates do not
 *   continue; `differs` for arrays that do not fit; `unsupported-operation` for a zip, or a single level of an image;
 *   `locked` while another run writes there; `budget-too-small`; `source-changed`.
 * @example
 * ```ts
 * import { append, sliceTo } from "zarrflow";
 *
 * await sliceTo("era5.zarr", "first.zarr", { slice: { time: [0, 24] } });
 * await sliceTo("era5.zarr", "second.zarr", { slice: { time: [24, 48] } });
 * const { arrays } = await append("second.zarr", "first.zarr", { dim: "time" });
 * console.log(arrays.length > 0); // true
 * ```
 */
export async function append(
  source: OpenSource,
  target: OpenSource,
  given: AppendOptions,
): Promise<AppendReport> {
  const options = checkedOptions(given, APPEND_OPTIONS);
  const { dim, signal } = options;
  if (typeof dim !== "string" || dim === "")
    throw invalidOption("append needs `dim`", "the name of a dimension", dim);
  const { root, close } = await openSource(source, options);
  try {
    const to = await openTarget(target, root, options);
    try {
      const { root: node } = to;
      noteAccess(options, [root.spec, node.spec]);
      const hierarchyAround = await parentHierarchyOfNode(node);
      await assertApart(root, childSpec(node.spec, node.path) ?? node.spec);
      if (options.dryRun) return await appendAt(root, node, hierarchyAround, options);
      const lock = await lockPlace(hierarchyAround, { isArray: node.kind === "array", signal });
      try {
        return await appendAt(root, node, hierarchyAround, options, lock);
      } finally {
        await lock.release();
      }
    } finally {
      await to.close();
    }
  } finally {
    await close();
  }
}

async function openTarget(
  target: OpenSource,
  source: ZarrNode,
  options: AppendOptions,
): Promise<OpenedSource> {
  const opened = await openSource(target, { ...options, concurrency: undefined }).catch((error) => {
    const hint = "Append needs an existing target: write the first part with `zarrflow copy`.";
    throw isZarrflowError(error, "not-found") ? error.addContext({ hint }) : error;
  });
  const { root } = opened;
  try {
    assertWritable(root.store);
    if (root.kind === source.kind) return opened;
    const [from, to] = [source, root].map(({ kind }) => (kind === "array" ? "an array" : "a group"));
    throw new ZarrflowError("invalid-option", `the source is ${from}, but the target is ${to}`, {
      hint: "Name an array on both sides, or a group on both.",
    });
  } catch (error) {
    await opened.close();
    const hint = "Append to a folder or a bucket; copy this target to one first.";
    throw isZarrflowError(error, "unsupported-operation") ? error.addContext({ hint }) : error;
  }
}

async function appendAt(
  root: ZarrNode,
  node: ZarrNode,
  hierarchyAround: ParentHierarchy,
  options: AppendOptions,
  lock?: LockedPlace,
): Promise<AppendReport> {
  const started = performance.now();
  const { dim, writeEmptyChunks = false, maxMetadata, onEvent, signal } = options;
  const maxMemory = memoryLimit(options);
  const concurrency = usualConcurrency(options.concurrency, root.spec, hierarchyAround.spec);
  const below = await walkByKind(node, signal);
  const hasImages = await assertImagesStay(node, below, dim, signal);
  const { arrays: from } = await walkByKind(root, signal);
  const own = await ownArrays(node, below, hierarchyAround, options);
  const axes = new Map<ZarrArray, readonly string[]>();
  for (const array of hasImages ? [...from.values(), ...own.values()] : []) {
    const names = await axesFromAbove(array, signal);
    if (names) axes.set(array, names);
  }
  const { appended, others } = pairArrays(from, own, dim, axes);
  for (const pair of appended) {
    assertSameKind(pair);
    if (hasImages) await assertLevelContinues(pair, signal);
  }
  assertRastersContinue({ appended, others }, { source: root, target: node });
  // fails before the first chunk is written
  for (const { target } of appended) await editedAlong(target, { maxMetadata, signal });
  const reading = { maxMemory, concurrency, signal };
  for (const pair of appended) if (isGrowingCoordinate(pair, dim)) await assertContinues(pair, reading);
  const watch = await SourceWatch.begin([root, ...from.values()], [root.store], { signal });
  let release = () => {};
  try {
    release = await leaseMemory(options, maxMemory);
    for (const pair of others) await assertEqual(pair, { ...reading, onEvent });
    const parts: GrowingPart[] = [];
    for (const pair of appended) {
      const source = (await withChunkSeparator(pair.source, { signal })).innerChunks();
      const target = (await withChunkSeparator(pair.target, { signal })) as ZarrArray<
        DataTypeName,
        WritableStore
      >;
      parts.push(growingPart({ ...pair, source, target }));
    }
    const buffers = new BufferPool(maxMemory);
    if (lock) {
      await writeParts(parts, { maxMemory, concurrency, writeEmptyChunks, buffers, onEvent, signal });
      await watch.assertUnchanged({ concurrency, signal });
      await lock.assertHeld();
      const inOrder = [...parts].sort(
        (a, b) => Number(isGrowingCoordinate(a, dim)) - Number(isGrowingCoordinate(b, dim)),
      );
      const { nodes, warnings } = await followingParts(inOrder, node, hierarchyAround, {
        maxMetadata,
        signal,
      });
      // those whose consolidated metadata may list the arrays
      const inside = [...below.groups.keys()].map((path) => inHierarchyAround(hierarchyAround, path));
      const groups = [...ancestorPaths(hierarchyAround.path), ...inside];
      const place = {
        store: hierarchyAround.store,
        spec: hierarchyAround.spec,
        reading: node.reading,
        layout: node.layout,
      };
      await growArrays(place, nodes, { groups, maxMetadata, signal });
      for (const warning of warnings) onEvent?.({ type: "warning", ...warning });
    }
    return {
      arrays: parts.map(grownArray),
      equal: others.map(({ path }) => path),
      seconds: (performance.now() - started) / 1000,
      peakBuffers: buffers.peak,
    };
  } finally {
    release();
    watch.end();
  }
}

/** Opens the arrays of the target by their own documents, ignoring consolidated metadata. */
async function ownArrays(
  node: ZarrNode,
  below: NodesByKind,
  hierarchyAround: ParentHierarchy,
  { maxMetadata, signal }: AppendOptions,
): Promise<Map<string, ZarrArray>> {
  const arrays = new Map<string, ZarrArray>();
  for (const path of below.arrays.keys()) {
    const reading = { ...node.reading, ...(maxMetadata !== undefined && { maxMetadata }), signal };
    const { zarrFormat } = node.layout;
    const own = await openNode(hierarchyAround.store, inHierarchyAround(hierarchyAround, path), {
      ...reading,
      spec: hierarchyAround.spec,
      zarrFormat,
    });
    if (own?.kind === "array") arrays.set(path, own);
    else
      throw new ZarrflowError("not-found", "the array has no metadata document of its own", {
        path,
      });
  }
  return arrays;
}

function inHierarchyAround({ path: root }: ParentHierarchy, path: string): string {
  return path === "" ? root : joinKey(root, path);
}

/**
 * New metadata of the arrays, and of the nodes around them that must change with them. These nodes come first and the
 * coordinate last, because a grown coordinate signals to readers that the rest is complete.
 */
async function followingParts(
  parts: readonly GrowingPart[],
  node: ZarrNode,
  hierarchyAround: ParentHierarchy,
  reading: Pick<AppendOptions, "maxMetadata" | "signal">,
): Promise<Following> {
  const reshaped = parts.map(({ target, shape, axis, length }) => ({
    path: target.path,
    before: { ...target.metadata, shape: target.shape.with(axis, length) },
    shape,
  }));
  const { nodes, warnings } = await following(hierarchyAround, node, reshaped, reading);
  const own = new Map(parts.map(({ target }) => [target.path, target.metadata]));
  const inOrder = nodes.toSorted((a, b) => Number(own.has(a.path)) - Number(own.has(b.path)));
  return {
    nodes: inOrder.map((one) => ({ ...one, before: own.get(one.path) ?? one.before })),
    warnings: warnings.map((warning) => ({
      ...warning,
      path: isAtOrBelow(warning.path, hierarchyAround.path)
        ? belowPath(hierarchyAround.path, warning.path)
        : warning.path,
    })),
  };
}

type WriteOptions = Omit<Parameters<typeof writePart>[2], "onItems"> & ReadEventOptions;

/** Writes the new chunks of all arrays first, then those at the old edge, which readers of the target already see. */
async function writeParts(
  parts: readonly GrowingPart[],
  { onEvent, ...options }: WriteOptions,
): Promise<void> {
  const items = new Map<string, number>();
  const write = async (part: GrowingPart, which: "fresh" | "ragged") => {
    const { path, source } = part;
    const { dataType } = source.metadata;
    const size = isFixed(dataType) ? dataType.size : 1;
    const onItems = (count: number) => {
      const done = (items.get(path) ?? 0) + count;
      items.set(path, done);
      const allBytes = isFixed(dataType) ? product(source.shape) * size : undefined;
      onEvent?.({ type: "read", path, bytes: done * size, allBytes });
    };
    await writePart(part, part[which], { ...options, onItems });
  };
  try {
    for (const which of ["fresh", "ragged"] as const) for (const part of parts) await write(part, which);
  } catch (error) {
    for (const part of parts) await removeFresh(part, options.concurrency).catch(() => {});
    throw error;
  }
}

function grownArray(part: GrowingPart): AppendedArray {
  const { path, target, shape, fresh, ragged, length, axis } = part;
  const { dataType, dimensionNames } = target;
  const count = (region: typeof fresh) => [...targetChunksIn(part, region)].length;
  return {
    path,
    dataType,
    ...(dimensionNames && { dimensionNames }),
    before: target.shape.with(axis, length),
    shape,
    newChunks: count(fresh),
    rewrittenChunks: count(ragged),
  };
}

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
export function targetChunksIn({ target }: GrowingPart, region: Region): Iterable<readonly number[]> {
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
  await forEachConcurrent(targetChunksIn(part, fresh), remove, { concurrency });
}
