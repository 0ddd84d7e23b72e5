import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { expectedItemSize } from "../../meta/data-type.ts";
import { dimensionNamed } from "../../meta/dimension-names.ts";
import { withEqualsSigns } from "../../meta/equals-signs.ts";
import { wholeShards } from "../../meta/reshard.ts";
import { parseBytes } from "../../util/byte-size.ts";
import { wholeNumber } from "../../util/decimal.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { autoChunks } from "./auto-chunks.ts";

/**
 * Items of a chunk along one dimension: a number, -1 for the whole dimension, or `auto` for chunks of at most 16
 * MB.
 */
export type ChunkSize = number | "auto";

/**
 * A requested chunk shape: one size per dimension, or sizes by dimension name. Dimensions that are not named keep
 * their size.
 */
export type ChunksOption = readonly ChunkSize[] | Readonly<Record<string, ChunkSize>>;

/** Chunk shapes as options and flags give them: one for all arrays, or texts, which may name arrays. */
export type ChunksInput = ChunksOption | string | readonly string[];

/**
 * A parsed chunk request: sizes in order, sizes by dimension name, or decoded bytes (the default size if omitted).
 */
export type AskedChunks =
  | { readonly by: "order"; readonly sizes: readonly ChunkSize[] }
  | { readonly by: "name"; readonly sizes: Readonly<Record<string, ChunkSize>> }
  | { readonly by: "bytes"; readonly bytes?: number };

/** A chunk request for the arrays that a path or glob selects; without one, for all arrays that it fits. */
export interface ChunksRequest {
  readonly selector?: string;
  readonly asked: AskedChunks;
}

/** Decoded size of `auto` chunks and shards. */
const AUTO_CHUNK_BYTES = 16e6;
const AUTO_SHARD_BYTES = 256e6;

/**
 * Parses `time=744,lat=11`, `744,11,7`, `auto`, `100MB`, and the same for an array or a glob: `t2m:time=-1,lat=16`.
 *
 * @throws `invalid-option` saying what is valid.
 */
export function parseChunks(text: string): ChunksRequest {
  const [, selector, sizes = ""] = /^(?:((?:\{[^{}:=]*\}|[^{}:=,])+):)?(.*)$/.exec(text.trim()) ?? [];
  return { ...(selector !== undefined && { selector }), asked: parseAsked(sizes, text) };
}

/** Converts chunk sizes given as an object or a list. */
export function askedChunks(option: ChunksOption): AskedChunks {
  return Array.isArray(option)
    ? { by: "order", sizes: option }
    : { by: "name", sizes: option as Readonly<Record<string, ChunkSize>> };
}

/** True if no dimension is named, so that every array keeps its chunks. */
export function namesNothing(asked: AskedChunks): boolean {
  return asked.by === "name" && Object.keys(asked.sizes).length === 0;
}

const BYTES = /^\d+(?:\.\d+)?\s*[a-z]+$/i;

function parseAsked(sizes: string, text: string): AskedChunks {
  if (sizes.trim() === "auto") return { by: "bytes" };
  if (BYTES.test(sizes.trim())) return { by: "bytes", bytes: positiveBytes(sizes.trim()) };
  const parts = sizes.split(",").map((part) => part.trim());
  if (parts.some((part) => part.includes("="))) return { by: "name", sizes: namedSizes(parts, text) };
  return { by: "order", sizes: parts.map((part) => size(part, text)) };
}

function positiveBytes(text: string): number {
  const bytes = parseBytes(text);
  if (bytes >= 1) return bytes;
  throw invalid(`chunks cannot be of ${text}`);
}

function namedSizes(parts: readonly string[], text: string): Record<string, ChunkSize> {
  const sizes = new Map<string, ChunkSize>();
  for (const part of parts) {
    const at = part.lastIndexOf("=");
    if (at < 1) throw invalid(`\`${part}\` in \`${text}\` has no dimension name`, { text });
    const name = part.slice(0, at).trim();
    if (sizes.has(name)) throw invalid(`\`${name}\` is given twice in \`${text}\``);
    sizes.set(name, size(part.slice(at + 1).trim(), text));
  }
  return Object.fromEntries(sizes);
}

function size(part: string, text: string): ChunkSize {
  if (part === "auto") return part;
  const number = wholeNumber(part);
  if (number === undefined) throw invalid(`\`${part}\` in \`${text}\` is not a whole number`, { text });
  return number;
}

/**
 * Computes the requested chunk shape of an array without shards. @throws `invalid-option` for a wrong rank, name or
 * size.
 */
export function resolveChunks(asked: AskedChunks, metadata: ArrayMetadata, path: string): number[] {
  const { shape, chunkGrid, dimensionNames } = metadata;
  const sizes = sizesOf(asked, metadata, { path, others: chunkGrid.chunkShape });
  const lengths = sizes.map((size, d) => {
    if (size === "auto") return size;
    if (size === -1) return Math.max(1, shape[d] ?? 1);
    if (Number.isSafeInteger(size) && size >= 1) return size;
    throw invalid(`a chunk cannot have ${size} items along dimension ${dimensionNames?.[d] ?? d}`, { path });
  });
  return chosenLengths(lengths, metadata, { bytes: bytesOf(asked, AUTO_CHUNK_BYTES), mayDivide: true });
}

/**
 * Computes the requested shard shape of an array that has its new chunks, but no shards yet. -1 is the whole
 * dimension, rounded up to whole chunks. Dimensions that are not named keep the shard size of `before`, or get one
 * chunk.
 *
 * @throws `invalid-option` for a wrong rank, name or size.
 */
export function resolveShards(
  asked: AskedChunks,
  metadata: ArrayMetadata,
  { path, before }: { readonly path: string; readonly before: readonly number[] | undefined },
): number[] {
  const sizes = sizesOf(asked, metadata, { path, others: before ?? metadata.chunkGrid.chunkShape });
  const given = wholeShards(
    sizes.map((size) => (size === "auto" ? 1 : size)),
    metadata,
  );
  const lengths = sizes.map((size, d) => (size === "auto" ? size : (given[d] ?? 1)));
  return chosenLengths(lengths, metadata, { bytes: bytesOf(asked, AUTO_SHARD_BYTES), mayDivide: false });
}

function bytesOf(asked: AskedChunks, usual: number): number {
  return (asked.by === "bytes" ? asked.bytes : undefined) ?? usual;
}

/** Replaces each `auto` by a length. */
function chosenLengths(
  lengths: readonly ChunkSize[],
  { shape, chunkGrid, dataType }: ArrayMetadata,
  { bytes, mayDivide }: { readonly bytes: number; readonly mayDivide: boolean },
): number[] {
  const itemBytes = Math.max(1, expectedItemSize(dataType));
  return autoChunks({
    shape,
    units: chunkGrid.chunkShape,
    given: lengths.map((length) => (length === "auto" ? undefined : length)),
    maxItems: Math.max(1, Math.floor(bytes / itemBytes)),
    mayDivide,
  });
}

/** Returns one size per dimension. */
function sizesOf(
  asked: AskedChunks,
  { shape, dimensionNames = [] }: ArrayMetadata,
  { path, others }: { readonly path: string; readonly others: readonly number[] },
): readonly ChunkSize[] {
  if (asked.by === "bytes") return shape.map(() => "auto");
  if (asked.by === "order") {
    if (asked.sizes.length === shape.length) return asked.sizes;
    throw invalid(
      `${asked.sizes.length} chunk sizes for an array of ${shape.length} dimensions (${shape.join(", ")})`,
      { path },
    );
  }
  const sizes: ChunkSize[] = [...others];
  for (const [name, size] of Object.entries(asked.sizes))
    sizes[dimensionNamed(name, dimensionNames, path)] = size;
  return sizes;
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
      : "Write time=744,lat=11,lon=7 or 744,11,7; -1 is the whole dimension, auto what makes 16MB. A size such as 100MB stands alone.",
  });
}
