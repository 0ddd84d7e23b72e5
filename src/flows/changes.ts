import { parseSlice, resolveSlice, type SliceOption } from "../hierarchy/slice-option.ts";
import type { ArrayMetadata, CodecConfig, DialectName } from "../meta/array-metadata.ts";
import { parseCodec, withCompressor } from "../meta/codec-option.ts";
import { withoutShards, withShards } from "../meta/reshard.ts";
import type { Selection } from "../streams/selection.ts";
import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import {
  type ChunksOption,
  type ChunksRequest,
  parseChunks,
  resolveChunks,
  resolveShards,
} from "./chunk-option.ts";
import { type GroupArray, sliceGroup } from "./group-slice.ts";
import type { Change, SourceNode } from "./plan/hierarchy-request.ts";

/** What a flow changes on the way; what is not named stays as it is. */
export interface Changes {
  /**
   * The new chunk shape: by dimension name, in order, or as text (`time=744,lat=11`, `744,11,7`,
   * `t2m:time=-1,lat=16` for one array of a group); -1 is the whole dimension. Several texts add up.
   */
  readonly chunks?: ChunksOption | string | readonly string[];
  /**
   * The shape of shards, each of whole chunks, given as `chunks` is; -1 is the whole dimension. `none`: no shards, as it
   * is where `chunks` alone are given. Arrays keep theirs by default.
   */
  readonly shards?: ChunksOption | string | readonly string[];
  /** The new compressor of the arrays that are re-cut, or of all where none is: `zstd:5`, `none`, JSON, or a codec. */
  readonly codec?: string | CodecConfig;
  /**
   * The part that is taken: ranges by dimension name, of an array also in order, or as text (`time=0:24,lat=10:20:2`). A
   * dimension that an index is given for stays, with one item. Of a group, every array is cut that has any of the
   * dimensions, the others are taken whole.
   */
  readonly slice?: SliceOption | string;
  /** The dialect to write. */
  readonly to?: DialectName;
  /** JSON pointers, as a `loss-refused` names them, of what the new dialect may drop. */
  readonly allowLoss?: readonly string[];
}

/** Whether anything is named that is to change. */
export function changesAnything({ chunks, shards, codec, slice, to }: Changes): boolean {
  return [chunks, shards, codec, slice, to].some((change) => change !== undefined);
}

type ChangeOf = (path: string, metadata: ArrayMetadata) => Change | undefined;

type NamedNode = Pick<SourceNode, "path" | "metadata">;

interface Root {
  readonly path: string;
  readonly kind: "array" | "group";
}

/** Tells what becomes of each array of a node that was opened; undefined for one that stays as it is. */
export function changeOf(changes: Changes, root: Root, nodes: readonly NamedNode[]): ChangeOf {
  const { slice, ...others } = changes;
  const arrays = arraysOf(nodes);
  if (slice === undefined) return changeWhole(others, root, arrays);
  const selections = selectionsOf(typeof slice === "string" ? parseSlice(slice) : slice, root, arrays);
  const cut = ({ path, metadata }: GroupArray) => {
    const selection = selections.get(path);
    return selection ? partOf(metadata, selection.shape) : metadata;
  };
  const change = changeWhole(
    others,
    root,
    arrays.map((array) => ({ ...array, metadata: cut(array) })),
  );
  return (path, whole) => {
    const selection = selections.get(path);
    const metadata = cut({ path, metadata: whole });
    return selection ? { metadata, ...change(path, metadata), selection } : change(path, whole);
  };
}

/** What a slice takes, of an array that was opened or of those of a group, by path. */
function selectionsOf(
  option: SliceOption,
  root: Root,
  arrays: readonly GroupArray[],
): ReadonlyMap<string, Selection> {
  if (root.kind === "group") return sliceGroup(option, arrays);
  return new Map(arrays.map(({ path, metadata }) => [path, resolveSlice(option, metadata, path).selection]));
}

function arraysOf(nodes: readonly NamedNode[]): GroupArray[] {
  return nodes.flatMap(({ path, metadata }) => (metadata.kind === "array" ? [{ path, metadata }] : []));
}

/** An array of another shape; its chunks are no larger than it is, but for those that hold inner ones. */
function partOf(metadata: ArrayMetadata, shape: readonly number[]): ArrayMetadata {
  const { chunkGrid } = metadata;
  if (chunkGrid.innerChunkShape) return { ...metadata, shape };
  const chunkShape = chunkGrid.chunkShape.map((size, d) => Math.min(size, Math.max(1, shape[d] ?? 1)));
  return { ...metadata, shape, chunkGrid: { chunkShape } };
}

function changeWhole(
  { chunks, shards, codec }: Changes,
  root: Root,
  arrays: readonly GroupArray[],
): ChangeOf {
  const recode = codec === undefined ? (metadata: ArrayMetadata) => metadata : recodeTo(codec);
  if (chunks === undefined && shards === undefined) {
    return (_, metadata) => (codec === undefined ? undefined : { metadata: recode(metadata) });
  }
  const request = (option: NonNullable<Changes["chunks"]>) =>
    meantOptions(chunksRequest(option), arrays, root);
  const chunkOptions = chunks === undefined ? undefined : request(chunks);
  const isUnsharded = `${shards}` === "none";
  const shardOptions = shards === undefined || isUnsharded ? undefined : request(shards);
  return (path, metadata) => {
    const chunkOption = chunkOptions?.get(path);
    const shardOption = shardOptions?.get(path);
    if (chunkOption === undefined && shardOption === undefined && !isUnsharded) return undefined;
    const isKept = chunkOption === undefined || namesNothing(chunkOption);
    if (isKept && shardOption === undefined && !isUnsharded) return { metadata: recode(metadata) };
    const before = metadata.chunkGrid.innerChunkShape && metadata.chunkGrid.chunkShape;
    const plain = withoutShards(metadata);
    const recut = isKept
      ? plain
      : { ...plain, chunkGrid: { chunkShape: resolveChunks(chunkOption, plain, path) } };
    const recoded = recode(recut);
    if (shardOption === undefined) return { metadata: recoded };
    return { metadata: withShards(recoded, resolveShards(shardOption, recoded, { path, before })) };
  };
}

function namesNothing(option: ChunksOption): boolean {
  return !Array.isArray(option) && Object.keys(option).length === 0;
}

function chunksRequest(chunks: NonNullable<Changes["chunks"]>): ChunksRequest {
  const texts = typeof chunks === "string" ? [chunks] : isTexts(chunks) ? chunks : undefined;
  if (texts === undefined) return { all: chunks as ChunksOption };
  const parsed = texts.map(parseChunks);
  const all = parsed.flatMap((request) => (request.all ? [request.all] : []));
  if (all.length > 1) {
    throw new ZarrflowError("invalid-option", "chunks for all arrays are given more than once", {
      hint: "put them into one: --chunks time=744,lat=11; name the array for others: --chunks t2m:time=-1",
    });
  }
  const arrays = Object.assign({}, ...parsed.map((request) => request.arrays ?? {}));
  return { ...(all[0] && { all: all[0] }), arrays };
}

function isTexts(chunks: NonNullable<Changes["chunks"]>): chunks is readonly string[] {
  return Array.isArray(chunks) && chunks.length > 0 && chunks.every((chunk) => typeof chunk === "string");
}

function recodeTo(codec: string | CodecConfig): (metadata: ArrayMetadata) => ArrayMetadata {
  const compressor = typeof codec === "string" ? parseCodec(codec) : codec;
  return (metadata) => ({ ...metadata, codecs: withCompressor(metadata.codecs, compressor) });
}

/** What is asked for by path, of the arrays that the request means. */
function meantOptions(
  request: ChunksRequest,
  arrays: readonly GroupArray[],
  root: Root,
): Map<string, ChunksOption> {
  const options = new Map<string, ChunksOption>();
  const { all } = request;
  if (all) {
    const isSingle = root.kind === "array";
    const meant = isSingle ? arrays : arrays.filter(({ path, metadata }) => isMeant(all, path, metadata));
    if (meant.length === 0) throw nothingMeant(all, arrays);
    for (const { path } of meant) options.set(path, all);
  }
  for (const [name, option] of Object.entries(request.arrays ?? {})) {
    const path = [root.path, name].filter(Boolean).join("/");
    if (!arrays.some((candidate) => candidate.path === path)) {
      const paths = arrays.map((candidate) => candidate.path.slice(root.path.length).replace(/^\//, ""));
      throw noArray(name, paths);
    }
    options.set(path, option);
  }
  return options;
}

/** Whether an array of a group has all the named dimensions and is no coordinate of one of them. */
function isMeant(option: ChunksOption, path: string, { dimensionNames = [], shape }: ArrayMetadata): boolean {
  if (Array.isArray(option)) {
    throw new ZarrflowError(
      "invalid-option",
      "sizes without names cannot be meant for all arrays of a group",
      {
        hint: "name the dimensions (time=744,lat=11) or the array (t2m:744,11,7)",
      },
    );
  }
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (shape.length === 1 && dimensionNames[0] === name) return false;
  return Object.keys(option).every((dimension) => dimensionNames.includes(dimension));
}

function nothingMeant(option: ChunksOption, arrays: readonly { metadata: ArrayMetadata }[]): ZarrflowError {
  const asked = Object.keys(option);
  const known = [...new Set(arrays.flatMap(({ metadata }) => metadata.dimensionNames ?? []))].filter(
    (n) => n !== null,
  );
  const stranger = asked.find((name) => !known.includes(name));
  const near = stranger && nearestName(stranger, known);
  return new ZarrflowError("invalid-option", `no array of the group has the dimensions ${asked.join(", ")}`, {
    hint: near
      ? `did you mean \`${near}\`?`
      : `the group's dimensions are ${known.join(", ") || "not named"}`,
  });
}

function noArray(name: string, paths: readonly string[]): ZarrflowError {
  const near = nearestName(name, paths);
  return new ZarrflowError("invalid-option", `the group has no array \`${name}\``, {
    hint: near ? `did you mean \`${near}\`?` : `its arrays are ${paths.join(", ") || "none"}`,
  });
}
