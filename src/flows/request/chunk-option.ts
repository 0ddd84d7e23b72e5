import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { dimensionNamed, withEqualsSigns } from "../../meta/dimension-names.ts";
import { wholeShards } from "../../meta/reshard.ts";
import { wholeNumber } from "../../util/decimal.ts";
import { ZarrflowError } from "../../util/errors.ts";

/**
 * A chunk shape as people ask for it: one size a dimension, or sizes by dimension name, where dimensions that are
 * not named keep theirs; -1 is the whole dimension.
 */
export type ChunksOption = readonly number[] | Readonly<Record<string, number>>;

/** Chunk shapes as options and flags give them: for all arrays, or as texts, which may name an array. */
export type ChunksInput = ChunksOption | string | readonly string[];

/** Chunk shapes for all arrays they fit, and for single arrays by path. */
export interface ChunksRequest {
  readonly all?: ChunksOption;
  readonly arrays?: Readonly<Record<string, ChunksOption>>;
}

/**
 * Reads `time=744,lat=11`, `744,11,7` or `t2m:time=-1,lat=16`.
 *
 * @throws `invalid-option` saying what is valid.
 */
export function parseChunks(text: string): ChunksRequest {
  const [, path, sizes = ""] = /^(?:([^:=,]+):)?(.*)$/.exec(text.trim()) ?? [];
  const parts = sizes.split(",").map((part) => part.trim());
  const named = parts.some((part) => part.includes("="));
  const option = named ? namedSizes(parts, text) : parts.map((part) => size(part, text));
  return path === undefined ? { all: option } : { arrays: { [path]: option } };
}

function namedSizes(parts: readonly string[], text: string): Record<string, number> {
  const sizes = new Map<string, number>();
  for (const part of parts) {
    const at = part.lastIndexOf("=");
    if (at < 1) throw invalid(`\`${part}\` in \`${text}\` has no dimension name`, { text });
    const name = part.slice(0, at).trim();
    if (sizes.has(name)) throw invalid(`\`${name}\` is given twice in \`${text}\``);
    sizes.set(name, size(part.slice(at + 1).trim(), text));
  }
  return Object.fromEntries(sizes);
}

function size(part: string, text: string): number {
  const number = wholeNumber(part);
  if (number === undefined) throw invalid(`\`${part}\` in \`${text}\` is not a whole number`, { text });
  return number;
}

/** The chunk shape that `option` means for an array. @throws `invalid-option` for a wrong rank, name or size. */
export function resolveChunks(
  option: ChunksOption,
  { shape, chunkGrid, dimensionNames }: ArrayMetadata,
  path: string,
): number[] {
  const sizes = Array.isArray(option)
    ? ofRank(option, shape, path)
    : byName(option as Readonly<Record<string, number>>, chunkGrid.chunkShape, dimensionNames ?? [], path);
  return sizes.map((size, d) => {
    if (size === -1) return Math.max(1, shape[d] ?? 1);
    if (Number.isSafeInteger(size) && size >= 1) return size;
    throw invalid(`a chunk cannot have ${size} items along dimension ${dimensionNames?.[d] ?? d}`, { path });
  });
}

/**
 * The shard shape that `option` means for an array that has the new chunks, but no shards; -1 is the whole dimension,
 * in whole chunks. Dimensions that are not named have the sizes of `before`, or of a chunk.
 *
 * @throws `invalid-option` for a wrong rank, name or size.
 */
export function resolveShards(
  option: ChunksOption,
  metadata: ArrayMetadata,
  { path, before }: { readonly path: string; readonly before: readonly number[] | undefined },
): number[] {
  const { chunkShape } = metadata.chunkGrid;
  const sizes = Array.isArray(option) ? ofRank(option, metadata.shape, path) : byNameOf(option);
  return wholeShards(sizes, metadata);

  function byNameOf(named: ChunksOption): readonly number[] {
    const others = before ?? chunkShape;
    return byName(named as Readonly<Record<string, number>>, others, metadata.dimensionNames ?? [], path);
  }
}

function ofRank(sizes: readonly number[], shape: readonly number[], path: string): readonly number[] {
  if (sizes.length === shape.length) return sizes;
  throw invalid(
    `${sizes.length} chunk sizes for an array of ${shape.length} dimensions (${shape.join(", ")})`,
    { path },
  );
}

function byName(
  sizes: Readonly<Record<string, number>>,
  chunkShape: readonly number[],
  names: readonly (string | null)[],
  path: string,
): number[] {
  const result = [...chunkShape];
  for (const [name, size] of Object.entries(sizes)) {
    const d = dimensionNamed(name, names, path);
    result[d] = size;
  }
  return result;
}

function invalid(
  reason: string,
  { path, text }: { readonly path?: string; readonly text?: string } = {},
): ZarrflowError {
  const meant = text && withEqualsSigns(text);
  return new ZarrflowError("invalid-option", reason, {
    ...(path !== undefined && { path }),
    hint: meant
      ? `Did you mean \`${meant}\`?`
      : "Write time=744,lat=11,lon=7 or 744,11,7; -1 is the whole dimension.",
  });
}
