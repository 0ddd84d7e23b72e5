import type { ZarrArray } from "../hierarchy/node.ts";
import type { OpenSource } from "../hierarchy/open/open.ts";
import { READ_OPTIONS, type ReadOptions, SLAB_OPTIONS, type SlabOptions } from "../hierarchy/read-options.ts";
import { missingValueOf } from "../meta/conventions/missing-values.ts";
import { isFixed } from "../meta/data-type.ts";
import { itemJson } from "../run/compare-values.ts";
import { READ_EVENT_OPTIONS, type ReadEventOptions } from "../run/events.ts";
import { toHex } from "../util/bytes.ts";
import { isZarrflowError, type ZarrflowError } from "../util/errors.ts";
import { hasher } from "../util/hash.ts";
import { checkedOptions, type OptionNames } from "../util/options.ts";
import { product } from "../util/shape.ts";
import {
  type ArrayTree,
  arrayHash,
  CellGrid,
  CellHasher,
  cellShapeOf,
  type DigestTree,
  hashedBytes,
  MerkleRoot,
  type NewHash,
  wholeTree,
} from "./digest/tree-hash.ts";
import { arraysBelow } from "./request/arrays-below.ts";
import { openSliceOptions, slice } from "./slice.ts";
import { isFault } from "./validate/finding.ts";

/** The digest of one array. */
export interface ArrayDigest {
  /** Path below the given node; "" for the node itself. */
  readonly path: string;
  readonly dataType: string;
  readonly shape: readonly number[];
  /** SHA-256 in hexadecimal. */
  readonly sha256: string;
  /**
   * Value that readers of CF conventions treat as missing, as JSON text such as `-999` or `"NaN"`; absent if there is
   * none. Not part of the digest.
   */
  readonly missingValue?: string;
}

/** An array or a group that cannot be read. */
export interface BrokenDigest {
  /** Path below the given node. */
  readonly path: string;
  readonly error: ZarrflowError;
}

export interface DigestOptions extends ReadOptions, SlabOptions, ReadEventOptions {
  /** Called with each unreadable node below a group; the others are still digested. By default it is an error. */
  readonly onBroken?: ((broken: BrokenDigest) => void) | undefined;
}

export const DIGEST_OPTIONS: OptionNames<DigestOptions> = {
  ...READ_OPTIONS,
  ...SLAB_OPTIONS,
  ...READ_EVENT_OPTIONS,
  onBroken: true,
};

/**
 * Computes the SHA-256 of each array's items in C order, little-endian. It does not depend on chunks, codecs or format.
 * Items of varying size are hashed as their length (8 bytes, little-endian) followed by their bytes.
 *
 * @example
 * ```ts
 * import { digest } from "zarrflow";
 *
 * for await (const { path, sha256 } of digest("era5.zarr")) console.log(sha256, path);
 * ```
 */
export async function* digest(source: OpenSource, given: DigestOptions = {}): AsyncGenerator<ArrayDigest> {
  const options = checkedOptions(given, DIGEST_OPTIONS);
  for await (const { array, path } of arraysBelow(source, options)) {
    const sha256 = await arrayDigest(array, path, options).catch((error: unknown) => {
      if (path === "" || !options.onBroken || !isZarrflowError(error) || !isFault(error)) throw error;
      options.onBroken({ path, error });
    });
    if (sha256 === undefined) continue;
    const { metadata, dataType, shape, layout } = array;
    const missing = missingValueOf(metadata, layout.zarrFormat);
    const missingValue = missing && itemJson(missing, metadata.dataType);
    yield { path, dataType, shape, sha256, ...(missingValue !== undefined && { missingValue }) };
  }
}

async function arrayDigest(array: ZarrArray, path: string, options: DigestOptions): Promise<string> {
  const newHash = await hasher();
  const hash = newHash();
  const { dataType, shape } = array.metadata;
  const allBytes = isFixed(dataType) ? product(shape) * dataType.size : undefined;
  let digested = 0;
  for await (const { data } of slice(array, {}, { ...openSliceOptions(options), consistent: true }).slabs()) {
    for (const bytes of hashedBytes(data, 0, product(data.shape))) {
      hash.update(bytes);
      digested += bytes.length;
    }
    options.onEvent?.({ type: "read", path, bytes: digested, allBytes });
  }
  return toHex(hash.digest());
}

/** A part of the cells of all arrays. Each part is hashed separately. */
export interface TreePart {
  /** Number of the part, from 1. */
  readonly number: number;
  readonly of: number;
}

export interface DigestTreeOptions extends Omit<DigestOptions, "onBroken"> {
  /** Lists the hash of each cell, so that differences can be located. */
  readonly cells?: boolean | undefined;
  /** Hashes one part of the cells, and lists their hashes; `mergeDigestTrees` combines all parts into one tree. */
  readonly part?: TreePart | undefined;
}

const { onBroken: _, ...READING_OPTIONS } = DIGEST_OPTIONS;

const DIGEST_TREE_OPTIONS: OptionNames<DigestTreeOptions> = {
  ...READING_OPTIONS,
  cells: true,
  part: true,
};

/**
 * Hashes the cells of a fixed virtual grid over each array, and derives a root hash. The result does not depend on
 * chunks, codecs or format. Where two trees differ, the differing cells show where the arrays differ.
 * `docs/digest-tree.md` defines the hashes. Listed cells do not count towards the memory budget: they take about 100
 * bytes per MiB of items.
 *
 * Fails if an array cannot be read or decoded, because the root would not cover it.
 *
 * @example
 * ```ts
 * import { digestTree } from "zarrflow";
 *
 * const { sha256, arrays } = await digestTree("era5.zarr", { cells: true });
 * console.log(sha256, arrays[0]?.cells?.[0]?.sha256.length);
 * ```
 */
export async function digestTree(source: OpenSource, given: DigestTreeOptions = {}): Promise<DigestTree> {
  const options = checkedOptions(given, DIGEST_TREE_OPTIONS);
  const newHash = await hasher();
  const arrays: ArrayTree[] = [];
  for await (const { array, path } of arraysBelow(source, { ...options, needsAll: true })) {
    arrays.push(await arrayTree(array, path, { ...options, newHash, number: arrays.length }));
  }
  return wholeTree(newHash, arrays);
}

async function arrayTree(
  array: ZarrArray,
  path: string,
  { newHash, number, cells, part, ...options }: DigestTreeOptions & { newHash: NewHash; number: number },
): Promise<ArrayTree> {
  const { dataType, shape } = array;
  const cellShape = cellShapeOf(shape, array.metadata.dataType);
  const grid = new CellGrid(shape, cellShape);
  const [from, to] = cellsOf(grid.count, part, number);
  const root = new MerkleRoot(newHash);
  const listed: string[] = [];
  const hasher = new CellHasher(newHash, { grid, dataType, first: from }, (hash) => {
    root.add(hash);
    if (cells || part) listed.push(toHex(hash));
  });
  const fixed = array.metadata.dataType;
  const allBytes = isFixed(fixed) && part === undefined ? product(shape) * fixed.size : undefined;
  const reading = { ...openSliceOptions(options), consistent: true };
  let bytes = 0;
  for (const { start, shape: extent } of grid.boxes(from, to)) {
    const ranges = start.map((at, d) => [at, at + (extent[d] ?? 0)] as const);
    for await (const { data } of slice(array, ranges, reading).slabs()) {
      bytes += hasher.push(data);
      options.onEvent?.({ type: "read", path, bytes, allBytes });
    }
  }
  const isWhole = to - from === grid.count;
  const about = { dataType, shape, cellShape };
  return {
    path,
    ...about,
    ...(isWhole && { sha256: arrayHash(newHash, about, root.end()) }),
    ...((cells || part) && { cells: listed.length > 0 ? [{ first: from, sha256: listed }] : [] }),
  };
}

/**
 * Range of an array's cells in a part. Rotated by the array's number, to spread arrays with few cells over all parts.
 */
function cellsOf(count: number, part: TreePart | undefined, number: number): [from: number, to: number] {
  if (part === undefined) return [0, count];
  const at = (part.number - 1 + number) % part.of;
  return [Math.floor((at * count) / part.of), Math.floor(((at + 1) * count) / part.of)];
}
