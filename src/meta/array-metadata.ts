import type { JsonObject, JsonValue } from "../util/json-value.ts";
import type { DataType } from "./data-type.ts";

export type ZarrFormat = "v1" | "v2" | "v3-draft-2019" | "v3-draft-2020" | "v3";

/** A regular grid. `chunkShape` is the shape of what one key holds; `innerChunkShape` that of a shard's chunks. */
export interface ChunkGrid {
  readonly chunkShape: readonly number[];
  readonly innerChunkShape?: readonly number[];
}

/**
 * How chunk coords become the last piece of a key: `default` is `c/1/2`, `plain` is `1.2` (`0` for a scalar).
 */
export interface ChunkKeyEncoding {
  readonly name: "default" | "plain";
  readonly separator: "." | "/";
}

/**
 * One codec by its normal name (`blosc`, `zlib`, `delta`, `bytes`, `transpose`, ...) and normal configuration:
 * the v3 form where v3 has the codec, else the numcodecs form without `id`. Inner codecs of `sharding_indexed` are
 * objects of normal `name` and `configuration` in turn. ZEP 7's layout of variable data is the array -> bytes codec
 * `zep0007` with `offset_size` 4 or 8.
 */
export interface CodecConfig {
  readonly name: string;
  readonly configuration: JsonObject;
  /**
   * The codec as its document stated it, so that writing the same format loses nothing, and the JSON pointer at
   * which that document names it.
   */
  readonly stated?: Original & { readonly pointer: string };
  /** Whether readers who do not know the codec may go on, as far as no chunk needs it. */
  readonly mayBeSkipped?: boolean;
}

/** Something as the document of one format put it. */
export interface Original<T extends JsonValue = JsonValue> {
  readonly zarrFormat: ZarrFormat;
  readonly json: T;
}

/**
 * The fill value of one element: its little-endian bytes (UTF-8 of a string, JSON text of an object), or `null`
 * where the format leaves the content of missing chunks undefined. `stated` is the document's own token.
 */
export interface FillValue {
  readonly bytes: Uint8Array | null;
  readonly stated?: Original;
}

/**
 * One array, whatever format described it. `codecs` is one list in encoding order: array -> array, then one
 * array -> bytes, then bytes -> bytes; v2's `order: "F"` is a `transpose` in front, its byte order the `bytes`
 * codec, its filters and compressor the bytes -> bytes codecs after it.
 */
export interface ArrayMetadata {
  readonly kind: "array";
  readonly shape: readonly number[];
  readonly dataType: DataType;
  readonly chunkGrid: ChunkGrid;
  readonly chunkKeyEncoding: ChunkKeyEncoding;
  readonly codecs: readonly CodecConfig[];
  readonly fillValue: FillValue;
  /** As in the document, but without dimension names where the format keeps these among the attributes. */
  readonly attributes: JsonObject;
  readonly dimensionNames?: readonly (string | null)[];
  /** What only the format that stated it can hold: other names of its document. */
  readonly extra?: Original<JsonObject>;
  readonly wording?: OriginalSpelling;
  /**
   * What conventions changed when the array was converted from another format, as that had it: it holds again where the
   * array is converted back, and gives what `usual` says.
   */
  readonly beforeConversion?: OriginalSpelling;
}

export interface GroupMetadata {
  readonly kind: "group";
  readonly attributes: JsonObject;
  readonly extra?: Original<JsonObject>;
  readonly wording?: OriginalSpelling;
}

/**
 * Members of the document that its format would write in other words: each holds again as long as what would be
 * written instead is still the same. It never says more than the rest of the metadata.
 */
export interface OriginalSpelling {
  readonly zarrFormat: ZarrFormat;
  /** As the document has them; absent where it leaves them out. */
  readonly stated: JsonObject;
  /** As they would be written; absent where they would be left out. */
  readonly usual: JsonObject;
}

export type NodeMetadata = ArrayMetadata | GroupMetadata;

/** The grid's shape in chunks: `ceil(shape / chunkShape)` by dimension. */
export function gridShape(shape: readonly number[], chunkShape: readonly number[]): number[] {
  return shape.map((n, d) => (n === 0 ? 0 : Math.ceil(n / (chunkShape[d] ?? 1))));
}
