import type { JsonObject, JsonValue } from "../util/json-value.ts";
import type { DataType } from "./data-type.ts";

export type ZarrFormat = "v1" | "v2" | "v3-draft-2019" | "v3-draft-2020" | "v3";

/**
 * A regular grid. `chunkShape` is the shape of one stored value; `innerChunkShape` is the shape of a shard's inner
 * chunks.
 */
export interface ChunkGrid {
  readonly chunkShape: readonly number[];
  readonly innerChunkShape?: readonly number[];
}

/** How chunk coords form the last part of a key: `default` is `c/1/2`, `plain` is `1.2` (`0` for a scalar). */
export interface ChunkKeyEncoding {
  readonly name: "default" | "plain";
  readonly separator: "." | "/";
}

/**
 * One codec by its canonical name (`blosc`, `zlib`, `delta`, `bytes`, `transpose`, ...) and configuration: the v3
 * form for codecs that v3 has, otherwise the numcodecs form without `id`. Inner codecs of `sharding_indexed` are
 * objects with such a `name` and `configuration` too. ZEP 7's layout of variable data is the array -> bytes codec
 * `zep0007` with `offset_size` 4 or 8.
 */
export interface CodecConfig {
  readonly name: string;
  readonly configuration: JsonObject;
  /** The codec as written in the document, so that writing the same format loses nothing, and its JSON pointer. */
  readonly stated?: Original & { readonly pointer: string };
  /** True if readers that do not know the codec may continue until a chunk needs it. */
  readonly mayBeSkipped?: boolean;
}

/** JSON as written in a document, with the document's format. */
export interface Original<T extends JsonValue = JsonValue> {
  readonly zarrFormat: ZarrFormat;
  readonly json: T;
}

/**
 * The fill value of one item: its little-endian bytes (UTF-8 of a string, JSON text of an object), or `null` if the
 * format leaves the content of missing chunks undefined. `stated` is the value as written in the document.
 */
export interface FillValue {
  readonly bytes: Uint8Array | null;
  readonly stated?: Original;
}

/**
 * One array, independent of its format. `codecs` is a single list in encoding order: array -> array, then one array
 * -> bytes, then bytes -> bytes. For v2, `order: "F"` is a `transpose` at the front, the byte order is the `bytes`
 * codec, and filters and compressor are the bytes -> bytes codecs after it.
 */
export interface ArrayMetadata {
  readonly kind: "array";
  readonly shape: readonly number[];
  readonly dataType: DataType;
  readonly chunkGrid: ChunkGrid;
  readonly chunkKeyEncoding: ChunkKeyEncoding;
  readonly codecs: readonly CodecConfig[];
  readonly fillValue: FillValue;
  /** The document's attributes, without the dimension names that some formats store among them. */
  readonly attributes: JsonObject;
  readonly dimensionNames?: readonly (string | null)[];
  /** Other members of the document, which only its own format can represent. */
  readonly extra?: Original<JsonObject>;
  readonly wording?: OriginalSpelling;
  /**
   * The parts that conventions changed when the array was converted from another format, as they were before.
   * Converting back restores them if it would otherwise produce the parts in `usual`.
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
 * Members that the document spells differently from how its format would be written. Each is written as `stated` as
 * long as the output would otherwise equal `usual`. Contains no information beyond the rest of the metadata.
 */
export interface OriginalSpelling {
  readonly zarrFormat: ZarrFormat;
  /** The members as written in the document; absent if it omits them. */
  readonly stated: JsonObject;
  /** The members as they would be written; absent if they would be omitted. */
  readonly usual: JsonObject;
}

export type NodeMetadata = ArrayMetadata | GroupMetadata;

/** The grid's shape in chunks: `ceil(shape / chunkShape)` per dimension. */
export function gridShape(shape: readonly number[], chunkShape: readonly number[]): number[] {
  return shape.map((n, d) => (n === 0 ? 0 : Math.ceil(n / (chunkShape[d] ?? 1))));
}
