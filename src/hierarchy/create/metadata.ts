import { codecNamed } from "../../codecs/catalog.ts";
import { createPipeline } from "../../codecs/chain/codec-chain.ts";
import { type CodecPipeline, chunkSpecOf } from "../../codecs/codec.ts";
import { type CodecJson, canonicalConfig } from "../../codecs/registry.ts";
import type {
  ArrayMetadata,
  CodecConfig,
  GroupMetadata,
  NodeMetadata,
  ZarrFormat,
} from "../../meta/array-metadata.ts";
import { askedCodecs, type CodecOption } from "../../meta/codec-option.ts";
import { makesBytes } from "../../meta/codec-traits.ts";
import type { DataType } from "../../meta/data-type.ts";
import {
  type DataTypeOption,
  parseDataTypeOption,
  type StoredDataType,
} from "../../meta/data-type-option.ts";
import { padBytes, zeroItem } from "../../meta/fill-values.ts";
import type { Documents, NodeLayout } from "../../meta/format.ts";
import { FORMAT_DEFAULTS, formatNamed } from "../../meta/formats.ts";
import { recoded } from "../../meta/recode.ts";
import { wholeShards, withShards } from "../../meta/shards.ts";
import { objectType, parseV2Codec } from "../../meta/v2/codecs.ts";
import { parseV3Codec, typeAfter, writeV3Codec } from "../../meta/v3/codec.ts";
import { parseFillV3 } from "../../meta/v3/fill-value.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { fromPlain, type JsonObject } from "../../util/json-value.ts";
import {
  assertKnown,
  assertRules,
  codec,
  invalidOption,
  isObject,
  type OptionNames,
  oneOf,
  type Rule,
  text,
} from "../../util/options.ts";

/**
 * A fill value: a number, bigint, boolean, string, `[re, im]`, an object of a structure's fields, or the item's bytes.
 */
export type FillOption =
  | null
  | number
  | bigint
  | boolean
  | string
  | readonly number[]
  | Uint8Array
  | { readonly [field: string]: unknown };

/** Description of a new group. */
export interface NewGroup {
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  /** The format to write; by default the format of the hierarchy around it, or `v3` without one. */
  readonly zarrFormat?: "v2" | "v3-draft-2019" | "v3" | undefined;
}

export const NEW_GROUP: OptionNames<NewGroup> = {
  attributes: true,
  zarrFormat: true,
};

/** Description of a new array. */
export interface NewArray<Type extends DataTypeOption = DataTypeOption> extends Omit<NewGroup, "zarrFormat"> {
  /** The format to write; by default the format of the hierarchy around it, or `v3` without one. */
  readonly zarrFormat?: "v1" | "v2" | "v3-draft-2019" | "v3" | undefined;
  /** Number of items along each dimension; 0 along the first one if the array grows. */
  readonly shape: readonly number[];
  readonly dataType: Type;
  /** Number of items of a chunk along each dimension; -1 is the whole dimension. */
  readonly chunks: readonly number[];
  /**
   * Number of items of a shard along each dimension, a multiple of the chunk shape; -1 is the whole dimension. A shard
   * stores several chunks under one key. Without shards, each chunk has its own key.
   */
  readonly shards?: readonly number[] | undefined;
  /**
   * The compressor, as in the command: `zstd:5`, `blosc:lz4:5:shuffle`, `gzip`, `none`. By default `zstd`, or `blosc`
   * in v1, or `gzip` in the draft of v3.
   */
  readonly codec?: CodecOption | undefined;
  /**
   * All codecs in the order of encoding, in the form of v2 or v3, instead of `codec` and `order`. The codec that
   * converts items to bytes (`bytes`, `vlen-utf8`) can be omitted.
   */
  readonly codecs?: readonly CodecJson[] | undefined;
  /** Order of items in a chunk. With `C`, the default, the last dimension varies fastest. */
  readonly order?: "C" | "F" | undefined;
  /**
   * Value of items that were never written; by default 0, or empty. In v2, where xarray treats all items equal to it as
   * missing, `null` leaves it undefined, as in v1 and the draft of v3; in v3, `null` means the default.
   */
  readonly fillValue?: FillOption | undefined;
  /** Name of each dimension, or null. */
  readonly dimensionNames?: readonly (string | null)[] | undefined;
  /** Separator of the numbers in chunk keys; by default `/` in v3, `.` in all other formats. */
  readonly separator?: "." | "/" | undefined;
}

export const NEW_ARRAY: OptionNames<NewArray> = {
  ...NEW_GROUP,
  shape: true,
  dataType: true,
  chunks: true,
  shards: true,
  codec: true,
  codecs: true,
  order: true,
  fillValue: true,
  dimensionNames: true,
  separator: true,
};

/**
 * Returns the metadata of a new group.
 *
 * @throws `invalid-option` for attributes that JSON cannot represent, `loss-refused` for NaN and infinities.
 */
export function groupMetadata(group: NewGroup, layout: NodeLayout): GroupMetadata {
  assertKnown(group, NEW_GROUP, "member");
  const { attributes = {} } = group;
  const metadata: GroupMetadata = { kind: "group", attributes: asObject(attributes) };
  documentsOf(metadata, layout);
  return metadata;
}

/** The metadata of a new array, with its codec pipeline. */
export interface ArrayDescription {
  readonly metadata: ArrayMetadata;
  readonly pipeline: CodecPipeline;
}

/**
 * Returns the description of a new array in the format of `layout`.
 *
 * @throws `invalid-option`, `unsupported-data-type`, `unsupported-codec`; `loss-refused` if the format cannot represent
 *   it.
 */
export async function describeArray(array: NewArray, layout: NodeLayout): Promise<ArrayDescription> {
  assertKnown(array, NEW_ARRAY, "member");
  assertNewArray(array);
  try {
    // Parsing the documents gives the metadata as the format represents them, and finds all violations of its rules.
    const documents = documentsOf(newArrayMetadata(array, layout.zarrFormat), layout);
    const { metadata, findings = [] } = formatNamed(layout.zarrFormat).parse(documents, layout) ?? {};
    if (metadata?.kind !== "array")
      throw new ZarrflowError("invalid-option", "this does not describe an array");
    const [fault] = findings.filter(({ pointer = "" }) => pointer.startsWith("/codecs"));
    if (fault) throw new ZarrflowError("invalid-option", fault.message, { pointer: fault.pointer ?? "" });
    const pipeline = await createPipeline(metadata.codecs, chunkSpecOf(metadata), { isWritten: true });
    return { metadata, pipeline };
  } catch (error) {
    if (!isZarrflowError(error, "invalid-metadata")) throw error;
    throw new ZarrflowError("invalid-option", error.reason, error.details, { cause: error });
  }
}

function newArrayMetadata(array: NewArray, zarrFormat: ZarrFormat): ArrayMetadata {
  const { shape, dimensionNames, attributes = {} } = array;
  const stored = parseDataTypeOption(array.dataType);
  const { dataType } = stored;
  if (zarrFormat === "v1" && shape.length === 0) {
    throw new ZarrflowError("invalid-option", "an array in v1 needs at least one dimension", {
      pointer: "/shape",
    });
  }
  const { keys, nullFill } = FORMAT_DEFAULTS[zarrFormat];
  const hasNoFill = array.fillValue === null && nullFill;
  const metadata: ArrayMetadata = {
    kind: "array",
    shape,
    dataType,
    chunkGrid: { chunkShape: chunkShapeOf(array) },
    chunkKeyEncoding: { ...keys, ...(array.separator && { separator: array.separator }) },
    codecs: codecsOf(array, stored, zarrFormat),
    fillValue: { bytes: hasNoFill ? null : fillBytes(array.fillValue, dataType) },
    attributes: asObject(attributes),
    ...(dimensionNames && { dimensionNames }),
  };
  return array.shards ? withShards(metadata, wholeShards(array.shards, metadata)) : metadata;
}

/** Returns the documents of a node, in publishing order. @throws `loss-refused` */
export function documentsOf(metadata: NodeMetadata, layout: NodeLayout): Documents {
  return formatNamed(layout.zarrFormat).write(metadata, layout);
}

function chunkShapeOf({ shape, chunks }: NewArray): number[] {
  if (chunks.length !== shape.length) {
    throw new ZarrflowError("invalid-option", "`chunks` needs one size per dimension", {
      expected: `${shape.length} sizes`,
      found: `${chunks.length}`,
    });
  }
  return chunks.map((size, d) => (size === -1 ? Math.max(1, shape[d] ?? 1) : size));
}

function codecsOf(
  { codec, codecs, order, shape }: NewArray,
  { dataType, endian }: StoredDataType,
  zarrFormat: ZarrFormat,
): CodecConfig[] {
  if (codecs && (codec !== undefined || order !== undefined)) {
    throw new ZarrflowError("invalid-option", "`codecs` cannot be combined with `codec` or `order`", {
      hint: "Use either `codecs`, or `codec` and `order`.",
    });
  }
  if (codecs === undefined) {
    const bytes = toBytes(dataType, endian);
    const asked = askedCodecs(codec ?? FORMAT_DEFAULTS[zarrFormat].codec);
    return [...recoded({ codecs: [...transposeOf(order, shape.length), bytes], dataType }, asked)];
  }
  const listed = codecs.map(codecOf);
  if (listed.some(({ name }) => makesBytes(name) || objectType(name)?.kind === dataType.kind)) return listed;
  const start = listed.findLastIndex(({ name }) => codecNamed(name)?.kind === "array-to-array") + 1;
  const behind = typeAfter({ dataType }, listed.slice(0, start), "/codecs").dataType;
  return listed.toSpliced(start, 0, toBytes(behind, endian ?? (behind === dataType ? undefined : "little")));
}

/** Normalizes a codec. One that no format knows, registered by the caller, is kept as given. */
function codecOf(json: CodecJson, index: number): CodecConfig {
  const normal = canonicalConfig(json);
  if (writeV3Codec(normal, 1) !== undefined) return normal;
  const isOfV2 = typeof json === "object" && "id" in json;
  return isOfV2
    ? parseV2Codec(fromPlain(json), `/filters/${index}`)
    : parseV3Codec(fromPlain(json), `/codecs/${index}`);
}

function transposeOf(order: "C" | "F" = "C", rank: number): CodecConfig[] {
  const reversed = Array.from({ length: rank }, (_, d) => rank - 1 - d);
  return order === "F" && rank > 1 ? [{ name: "transpose", configuration: { order: reversed } }] : [];
}

function toBytes(dataType: DataType, endian: StoredDataType["endian"]): CodecConfig {
  switch (dataType.kind) {
    case "string":
      return { name: "vlen-utf8", configuration: {} };
    case "binary":
      return { name: "vlen-bytes", configuration: {} };
    case "object":
      return { name: "json2", configuration: {} };
    default:
      return { name: "bytes", configuration: endian ? { endian } : {} };
  }
}

/** Encodes a fill value. @throws `invalid-metadata`, `invalid-option` */
export function fillBytes(fill: FillOption | undefined, dataType: DataType): Uint8Array {
  if (fill === undefined || fill === null) return zeroItem(dataType);
  if (dataType.kind === "fixed-bytes") {
    const bytes = typeof fill === "string" ? new TextEncoder().encode(fill) : fill;
    if (bytes instanceof Uint8Array) return padBytes(bytes, dataType.size, "/fillValue");
  }
  if (!(fill instanceof Uint8Array)) return parseFillV3(fromPlain(fill), dataType, "little", "/fillValue");
  if (!("size" in dataType) || fill.length === dataType.size) return fill.slice();
  throw new ZarrflowError("invalid-option", "the fill value does not have as many bytes as an item", {
    pointer: "/fillValue",
    expected: dataType.size,
    found: fill.length,
  });
}

function asObject(attributes: Readonly<Record<string, unknown>>): JsonObject {
  return fromPlain(attributes) as JsonObject;
}

const listOf = (expected: string, holds: (one: unknown) => boolean): Rule => ({
  expected,
  // `Array.from` also visits holes of sparse lists
  holds: (value) => Array.isArray(value) && Array.from(value).every(holds),
});

const numbers = listOf("a list of numbers", (one) => typeof one === "number");

/** Types of the members of a new array. Values are checked later. */
const RULES: Readonly<Record<string, Rule>> = {
  shape: numbers,
  chunks: numbers,
  shards: numbers,
  codec,
  codecs: listOf(
    "a list of names and objects",
    (one) => text.holds(one) || (isObject(one) && !Array.isArray(one)),
  ),
  order: oneOf("C", "F"),
  separator: oneOf(".", "/"),
  dimensionNames: listOf(
    "a list of strings, or null for dimensions without a name",
    (one) => one === null || text.holds(one),
  ),
  attributes: { expected: "an object", holds: (value) => isObject(value) && !Array.isArray(value) },
};

/** Checks that a new array has the types of `NewArray`. @throws `invalid-option` */
export function assertNewArray(array: { readonly shape?: unknown; readonly chunks?: unknown }): void {
  assertRules(array, RULES);
  for (const name of ["shape", "chunks"] as const) {
    if (array[name] === undefined)
      throw invalidOption(`the array has no \`${name}\``, numbers.expected, undefined);
  }
}
