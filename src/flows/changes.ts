import { parseSlice, resolveSlice, type SliceOption } from "../hierarchy/slice-option.ts";
import type { ArrayMetadata, CodecConfig, DialectName } from "../meta/array-metadata.ts";
import { parseCodec, withCompressor } from "../meta/codec-option.ts";
import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import { type ChunksOption, type ChunksRequest, parseChunks, resolveChunks } from "./chunk-option.ts";
import type { Change, SourceNode } from "./plan/hierarchy-plan.ts";

/** What a flow changes on the way; what is not named stays as it is. */
export interface Changes {
  /**
   * The new chunk shape: by dimension name, in order, or as text (`time=744,lat=11`, `744,11,7`,
   * `t2m:time=-1,lat=16` for one array of a group); -1 is the whole dimension. Several texts add up.
   */
  readonly chunks?: ChunksOption | string | readonly string[];
  /** The new compressor of the arrays that are re-cut, or of all where none is: `zstd:5`, `none`, JSON, or a codec. */
  readonly codec?: string | CodecConfig;
  /**
   * The part of an array that is taken: ranges by dimension name or in order, or as text (`time=0:24,lat=10:20:2`). A
   * dimension that an index is given for stays, with one item. Only of an array, not of a group.
   */
  readonly slice?: SliceOption | string;
  /** The dialect to write. */
  readonly to?: DialectName;
  /** JSON pointers, as a `loss-refused` names them, of what the new dialect may drop. */
  readonly allowLoss?: readonly string[];
}

type ChangeOf = (path: string, metadata: ArrayMetadata) => Change | undefined;

interface Root {
  readonly path: string;
  readonly kind: "array" | "group";
}

/** Tells what becomes of each array of a node that was opened; undefined for one that stays as it is. */
export function changeOf(changes: Changes, root: Root, nodes: readonly SourceNode[]): ChangeOf {
  const { slice, ...others } = changes;
  if (slice === undefined) return changeWhole(others, root, nodes);
  const [node] = nodes;
  if (node?.metadata.kind !== "array") {
    throw new ZarrflowError("invalid-option", "a slice is cut out of an array, and this is a group", {
      path: root.path,
      hint: "name one of its arrays",
    });
  }
  const option = typeof slice === "string" ? parseSlice(slice) : slice;
  const { selection } = resolveSlice(option, node.metadata, root.path);
  const metadata = partOf(node.metadata, selection.shape);
  const { path, layout, documents } = node;
  const change = changeWhole(others, root, [{ path, layout, documents, metadata }]);
  return () => ({ metadata, ...change(path, metadata), selection });
}

/** An array of another shape; its chunks are no larger than it is, but for those that hold inner ones. */
function partOf(metadata: ArrayMetadata, shape: readonly number[]): ArrayMetadata {
  const { chunkGrid } = metadata;
  if (chunkGrid.innerChunkShape) return { ...metadata, shape };
  const chunkShape = chunkGrid.chunkShape.map((size, d) => Math.min(size, Math.max(1, shape[d] ?? 1)));
  return { ...metadata, shape, chunkGrid: { chunkShape } };
}

function changeWhole({ chunks, codec }: Changes, root: Root, nodes: readonly SourceNode[]): ChangeOf {
  const recode = codec === undefined ? undefined : recodeTo(codec);
  if (chunks === undefined) return (_, metadata) => recode && { metadata: recode(metadata) };
  const shapes = chunkShapes(chunksRequest(chunks), nodes, root.path, root.kind === "array");
  return (path, metadata) => {
    const chunkShape = shapes.get(path);
    if (chunkShape === undefined) return undefined;
    const recut = { ...metadata, chunkGrid: { chunkShape } };
    return { metadata: recode?.(recut) ?? recut };
  };
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

/** New chunk shapes by path, of the arrays that the request means. */
function chunkShapes(
  request: ChunksRequest,
  nodes: readonly SourceNode[],
  root: string,
  single: boolean,
): Map<string, number[]> {
  const shapes = new Map<string, number[]>();
  const arrays = nodes.flatMap(({ path, metadata }) =>
    metadata.kind === "array" ? [{ path, metadata }] : [],
  );
  const { all } = request;
  if (all) {
    const meant = single ? arrays : arrays.filter(({ path, metadata }) => isMeant(all, path, metadata));
    if (meant.length === 0) throw nothingMeant(all, arrays);
    for (const { path, metadata } of meant) shapes.set(path, resolveChunks(all, metadata, path));
  }
  for (const [name, option] of Object.entries(request.arrays ?? {})) {
    const path = [root, name].filter(Boolean).join("/");
    const array = arrays.find((candidate) => candidate.path === path);
    if (!array)
      throw noArray(
        name,
        arrays.map((candidate) => candidate.path.slice(root.length).replace(/^\//, "")),
      );
    shapes.set(path, resolveChunks(option, array.metadata, path));
  }
  return shapes;
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
