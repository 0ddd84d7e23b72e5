import type { ZarrArray, ZarrNode } from "../hierarchy/node.ts";
import type { OpenSource } from "../hierarchy/open/open.ts";
import { isNotKnown } from "../hierarchy/open/open-node.ts";
import { type BrokenNode, brokenNode, walkPastBroken } from "../hierarchy/open/walk.ts";
import { SOURCE_OPTIONS, type SourceOptions } from "../hierarchy/read-options.ts";
import { gridShape } from "../meta/array-metadata.ts";
import { describeCodec } from "../meta/codec-traits.ts";
import { parseMissing, statedMissing } from "../meta/conventions/missing-values.ts";
import { isFixed } from "../meta/data-type.ts";
import { itemJson } from "../run/compare-values.ts";
import { READ_EVENT_OPTIONS, type ReadEventOptions } from "../run/events.ts";
import { isListable } from "../stores/store.ts";
import { mapConcurrent } from "../streams/map-concurrent.ts";
import { reorder } from "../streams/reorder.ts";
import type { ErrorCode, ZarrflowError } from "../util/errors.ts";
import { belowPath } from "../util/node-path.ts";
import { checkedOptions, type OptionNames } from "../util/options.ts";
import { product } from "../util/shape.ts";
import { streamFrom } from "../util/web-streams.ts";
import { fillText } from "./diff/compare-metadata.ts";
import { type DimensionNames, dimensionNaming } from "./request/arrays-below.ts";
import { readableArray } from "./request/node-findings.ts";
import { openSource } from "./request/open-source.ts";
import { noteAccess } from "./request/option-effects.ts";

/** Description of an array, without decoding it. */
export interface ArrayInfo {
  readonly kind: "array";
  /** Path below the given node; "" for the node itself. */
  readonly path: string;
  readonly zarrFormat: string;
  readonly shape: readonly number[];
  readonly dataType: string;
  /** Shape of the data under one key: of a shard if there are shards. */
  readonly chunkShape: readonly number[];
  /** Shape of the chunks in a shard; absent without shards. */
  readonly innerChunkShape?: readonly number[];
  /** Names of the array's dimensions, or of the axes of the image that it is a level of. */
  readonly dimensionNames: readonly (string | null)[] | null;
  readonly codecs: readonly string[];
  /** Number of chunks in the grid. */
  readonly chunks: number;
  /** Number of stored chunks; null if the store cannot list. */
  readonly chunksPresent: number | null;
  /** Bytes of the stored chunks; null if the store cannot list. */
  readonly storedBytes: number | null;
  /** Bytes of all items; null for items of varying size. */
  readonly logicalBytes: number | null;
  /** Logical bytes divided by stored bytes; null if either is unknown or nothing is stored. */
  readonly ratio: number | null;
  /** Value that missing chunks read as, as JSON text; null if the format leaves it open. */
  readonly fillValue: string | null;
  /** Value of missing items per the attributes `_FillValue` or `missing_value`, as JSON text; null without them. */
  readonly missingValue: string | null;
  readonly attributes: unknown;
}

/** A group of a hierarchy. */
export interface GroupInfo {
  readonly kind: "group";
  readonly path: string;
  readonly zarrFormat: string;
  readonly attributes: unknown;
}

/** A node that cannot be read, or whose features are not supported; nodes below it are skipped. */
export interface BrokenInfo {
  readonly kind: "broken" | "unsupported";
  readonly path: string;
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

/** Sums over all arrays of a group; null if unknown for one of them. */
export interface InfoTotals
  extends Pick<ArrayInfo, "chunks" | "chunksPresent" | "storedBytes" | "logicalBytes" | "ratio"> {
  readonly kind: "totals";
  readonly arrays: number;
  readonly groups: number;
  readonly broken: number;
  readonly unsupported: number;
}

/** A node; or, after all nodes of a group, its totals. */
export type NodeInfo = ArrayInfo | GroupInfo | BrokenInfo | InfoTotals;

export interface InfoOptions extends SourceOptions, ReadEventOptions {
  /**
   * If true, also describes groups, reports nodes that cannot be read instead of throwing, and ends with the totals of
   * a group.
   *
   * @default false
   */
  readonly all?: boolean | undefined;
}

const INFO_OPTIONS: OptionNames<InfoOptions> = {
  ...SOURCE_OPTIONS,
  ...READ_EVENT_OPTIONS,
  all: true,
};

/** Number of nodes described concurrently. */
const AT_ONCE = 16;

/**
 * Describes an array, or every array of a group, from its metadata and a listing. Parents come first; several nodes are
 * read concurrently, but yielded in order.
 *
 * @throws as `open`; without `all` also for the first node that cannot be read.
 * @example
 * ```ts
 * import { info } from "zarrflow";
 *
 * for await (const node of info("era5.zarr", { all: true })) {
 *   if (node.kind === "totals") console.log(node.arrays, node.chunks);
 * }
 * ```
 */
export function info(
  source: OpenSource,
  given: InfoOptions & { readonly all: true },
): AsyncGenerator<NodeInfo>;
export function info(source: OpenSource, given?: InfoOptions): AsyncGenerator<ArrayInfo>;
export async function* info(source: OpenSource, given: InfoOptions = {}): AsyncGenerator<NodeInfo> {
  const options = checkedOptions(given, INFO_OPTIONS);
  const { all = false, signal } = options;
  const { root, close } = await openSource(source, options);
  const totals = new Totals();
  try {
    noteAccess(options, [root.spec]);
    const described = streamFrom(namedNodes(root, signal))
      .pipeThrough(
        mapConcurrent((named, context) => describe(named, root, { ...options, ...context }), {
          concurrency: AT_ONCE,
          signal,
        }),
      )
      .pipeThrough(reorder());
    for await (const { node, failure } of described) {
      if (failure && !all) throw failure;
      totals.add(node);
      if (all || node.kind === "array") yield node;
    }
    if (all && root.kind === "group") yield totals.info;
  } finally {
    await close();
  }
}

interface NamedNode {
  readonly index: number;
  readonly node: ZarrNode | BrokenNode;
  readonly dimensionNames?: DimensionNames | undefined;
}

async function* namedNodes(root: ZarrNode, signal: AbortSignal | undefined): AsyncGenerator<NamedNode> {
  const namesOf = await dimensionNaming(root, signal);
  yield { index: 0, node: root, dimensionNames: namesOf(root) };
  if (root.kind === "array") return;
  let index = 1;
  for await (const node of walkPastBroken(root, { signal })) {
    yield { index: index++, node, dimensionNames: node.kind === "broken" ? undefined : namesOf(node) };
  }
}

interface Described {
  readonly index: number;
  readonly node: Exclude<NodeInfo, InfoTotals>;
  readonly failure?: ZarrflowError;
}

async function describe(
  { index, node, dimensionNames }: NamedNode,
  root: ZarrNode,
  options: InfoOptions,
): Promise<Described> {
  const path = belowPath(root.path, node.path);
  try {
    if (node.kind === "broken") throw node.error;
    if (node.kind === "array") {
      const array = await readableArray(node, root, options);
      return { index, node: await describeArray(array, path, dimensionNames, options) };
    }
    const { layout, attributes } = node;
    return { index, node: { kind: "group", path, zarrFormat: layout.zarrFormat, attributes } };
  } catch (error) {
    const { error: failure } = brokenNode(node.path, error);
    const { code, message } = failure;
    const kind = isNotKnown(failure) ? "unsupported" : "broken";
    return { index, node: { kind, path, error: { code, message } }, failure };
  }
}

const COUNTED = { array: "arrays", group: "groups", broken: "broken", unsupported: "unsupported" } as const;

class Totals {
  #counts = { arrays: 0, groups: 0, broken: 0, unsupported: 0 };
  #sums = { chunks: 0, chunksPresent: 0 as number | null, storedBytes: 0 as number | null };
  #logicalBytes: number | null = 0;

  add(node: Exclude<NodeInfo, InfoTotals>): void {
    this.#counts[COUNTED[node.kind]]++;
    if (node.kind !== "array") return;
    const { chunks, chunksPresent, storedBytes } = this.#sums;
    this.#sums = {
      chunks: chunks + node.chunks,
      chunksPresent: sum(chunksPresent, node.chunksPresent),
      storedBytes: sum(storedBytes, node.storedBytes),
    };
    this.#logicalBytes = sum(this.#logicalBytes, node.logicalBytes);
  }

  get info(): InfoTotals {
    const [logicalBytes, { storedBytes }] = [this.#logicalBytes, this.#sums];
    const ratio = ratioOf(logicalBytes, storedBytes);
    return { kind: "totals", ...this.#counts, ...this.#sums, logicalBytes, ratio };
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function ratioOf(logicalBytes: number | null, storedBytes: number | null): number | null {
  return logicalBytes && storedBytes ? logicalBytes / storedBytes : null;
}

async function describeArray(
  array: ZarrArray,
  path: string,
  dimensionNames: DimensionNames | undefined,
  options: SourceOptions,
): Promise<ArrayInfo> {
  const { metadata } = array;
  const { dataType, chunkGrid } = metadata;
  const { innerChunkShape } = chunkGrid;
  const stored = await storedChunks(array, options);
  const logicalBytes = isFixed(dataType) ? product(metadata.shape) * dataType.size : null;
  return {
    kind: "array",
    path,
    zarrFormat: array.layout.zarrFormat,
    shape: metadata.shape,
    dataType: array.dataType,
    chunkShape: chunkGrid.chunkShape,
    ...(innerChunkShape && { innerChunkShape }),
    dimensionNames: dimensionNames ?? null,
    codecs: metadata.codecs.map(describeCodec),
    chunks: product(gridShape(metadata.shape, chunkGrid.chunkShape)),
    chunksPresent: stored?.count ?? null,
    storedBytes: stored?.bytes ?? null,
    logicalBytes,
    ratio: ratioOf(logicalBytes, stored?.bytes ?? null),
    fillValue: fillText(metadata.fillValue, dataType),
    missingValue: missingText(array),
    attributes: array.attributes,
  };
}

function missingText({ metadata: { attributes, dataType } }: ZarrArray): string | null {
  const stated = statedMissing(attributes) ?? attributes.missing_value;
  if (stated === undefined) return null;
  const bytes = parseMissing(stated, dataType);
  return bytes ? itemJson(bytes, dataType) : JSON.stringify(stated);
}

async function storedChunks(
  { store, layout, metadata }: ZarrArray,
  { signal }: SourceOptions,
): Promise<{ count: number; bytes: number } | undefined> {
  if (!isListable(store)) return undefined;
  const { chunkGrid, chunkKeyEncoding, shape } = metadata;
  const grid = gridShape(shape, chunkGrid.chunkShape);
  let count = 0;
  let bytes = 0;
  for await (const { key, size } of store.list(layout.chunksPrefix, { signal })) {
    const coords = layout.parseChunkKey(key, shape.length, chunkKeyEncoding);
    if (!coords?.every((c, d) => c < (grid[d] ?? 0))) continue;
    count++;
    bytes += size ?? (await store.size(key, { signal })) ?? 0;
  }
  return { count, bytes };
}
