import { builtinCodecs } from "../../codecs/catalog.ts";
import { type JsonObject, type JsonValue, jsonEqual } from "../../util/json-value.ts";
import type { ArrayMetadata, CodecConfig } from "../array-metadata.ts";
import {
  assertInteger,
  assertObject,
  assertRank,
  assertWord,
  integerOf,
  invalidMetadata,
  isJsonObject,
  member,
  refusal,
  required,
} from "../assert-json.ts";
import { type DataType, type Endian, isFixed } from "../data-type.ts";
import { assertFormatNumber, keptNames, Losses, otherNames } from "../documents.ts";
import { writeFloatFill, writeNumber } from "../fill-values.ts";
import { type NumberKind, partsOf } from "../number-kinds.ts";
import { restoreSpelling, statedFill, wordingOf } from "../round-trip.ts";
import { parseV2Codecs, writeV2Codecs } from "../v2/codecs.ts";
import { canonicalConfiguration, numcodecsConfiguration } from "../v2/configuration.ts";
import { parseNumpyType } from "../v2/data-type.ts";
import { parseFillV2, writeFillV2 } from "../v2/fill-value.ts";
import { writeNumpyType } from "../v2/numpy-type.ts";
import { noteOtherTypes } from "../v2/v2.ts";

const NAMES = [
  ...["zarr_format", "shape", "chunks", "dtype", "order", "fill_value"],
  ...["compression", "compression_opts"],
];

/** Metadata of an array that come from `meta`. */
export type V1ArrayMetadata = Omit<ArrayMetadata, "kind" | "attributes" | "dimensionNames">;

/** How to read `order: "F"` of chunks without blosc. */
export type V1Order = "as-written" | "as-stated";

/** @throws `invalid-metadata`, `unsupported-*`, `resource-limit`. */
export function parseV1Array(document: JsonObject, v1Order: V1Order): V1ArrayMetadata {
  assertFormatNumber(document, 1);
  const shape = assertLengths(document, "shape", 0);
  const chunkShape = assertLengths(document, "chunks", 1);
  if (shape.length === 0) throw invalidMetadata("/shape", "an array needs at least one dimension", []);
  if (chunkShape.length !== shape.length) {
    throw invalidMetadata("/chunks", `must have ${shape.length} numbers, one per dimension`, chunkShape);
  }
  const stored = parseNumpyType(required(document, "dtype"), "/dtype");
  const { dataType, endian } = stored;
  if (!isFixed(dataType))
    throw refusal("unsupported-data-type", "/dtype", "this format does not support objects", "|O");
  const stated = member(document, "order");
  const order = assertWord(stated === undefined ? "C" : stated, ["C", "F"], "/order");
  const compressor = parseV1Compression(document);
  const isAsStated = compressor?.name === "blosc" || v1Order === "as-stated";
  const coding = { order: isAsStated ? order : "C", filters: null, compressor: null } as const;
  const { codecs } = parseV2Codecs(coding, stored, shape.length);
  const fill = required(document, "fill_value");
  const extra = otherNames(document, NAMES);
  const metadata: V1ArrayMetadata = {
    shape,
    dataType,
    chunkGrid: { chunkShape },
    chunkKeyEncoding: { name: "plain", separator: "." },
    codecs: compressor ? [...codecs, compressor] : codecs,
    fillValue: {
      bytes: parseFillV1(fill, dataType, endian, "/fill_value"),
      stated: { zarrFormat: "v1", json: fill },
    },
    ...(Object.keys(extra).length > 0 && { extra: { zarrFormat: "v1", json: extra } }),
  };
  if (compressor) return metadata;
  const wording = wordingOf("v1", document, writeV1Array(metadata, v1Order, new Losses()), ["compression"]);
  return wording ? { ...metadata, wording } : metadata;
}

/** Reads a list of integers of at least `least`; errors point to the whole list. */
function assertLengths(document: JsonObject, name: string, least: number): number[] {
  const pointer = `/${name}`;
  return assertRank(required(document, name), pointer).map((n) => assertInteger(n, least, pointer));
}

/** Writes the `meta` of an array. */
export function writeV1Array(metadata: V1ArrayMetadata, v1Order: V1Order, losses: Losses): JsonObject {
  const { shape, chunkGrid, chunkKeyEncoding, dataType, codecs } = metadata;
  if (shape.length === 0) losses.require("/shape", "an array without dimensions");
  if (chunkKeyEncoding.name !== "plain" || chunkKeyEncoding.separator !== ".") {
    losses.require("/chunk_key_encoding", "keys other than numbers between periods");
  }
  if (!isFixed(dataType)) losses.require("/data_type", "items of varying size");
  noteOtherTypes(dataType, losses);
  const { compressors, others } = splitCodecs(codecs);
  const itemSize = isFixed(dataType) ? dataType.size : 1;
  const compression: V1Compression = writeV1Compression(compressors, itemSize, losses);
  const { order, endian } = writeV2Codecs(others, dataType, shape.length, losses);
  if (order === "F" && compression.compression !== "blosc" && v1Order === "as-written") {
    losses.require("/order", 'order "F" without blosc, which v1 readers take for C');
  }
  const document: JsonObject = {
    ...keptNames(metadata.extra, "v1", losses),
    zarr_format: 1,
    shape: [...shape],
    chunks: [...chunkGrid.chunkShape],
    dtype: writeNumpyType(dataType, endian),
    ...compression,
    fill_value: writeFill(metadata, endian, losses),
    order,
  };
  return restoreSpelling(document, "v1", metadata.wording);
}

/** Splits the codecs after `bytes`. */
function splitCodecs(codecs: readonly CodecConfig[]): {
  readonly compressors: readonly CodecConfig[];
  readonly others: readonly CodecConfig[];
} {
  const at = codecs.findIndex(({ name }) => name === "bytes") + 1;
  return { compressors: at > 0 ? codecs.slice(at) : [], others: at > 0 ? codecs.slice(0, at) : codecs };
}

function writeFill(
  { fillValue, dataType }: V1ArrayMetadata,
  endian: "little" | "big" | undefined,
  losses: Losses,
): JsonValue {
  const stated = statedFill(fillValue, "v1", (json) => parseFillV1(json, dataType, endian, "/fill_value"));
  const json = stated ?? (isFixed(dataType) ? writeFillV1(fillValue.bytes, dataType) : null);
  if (json !== undefined) return json;
  losses.add("/fill_value", "a fill value of bytes, a NaN with a payload, or text that is not Unicode");
  return null;
}

/** The members of `meta` that define the compression. */
export type V1Compression = { readonly compression: JsonValue; readonly compression_opts: JsonValue };

/** Canonical codec names for each value of `compression`; the writer's alias `gzip` is a codec of its own. */
const CODEC_NAMES: ReadonlyMap<JsonValue, string> = new Map(
  builtinCodecs().flatMap(({ name, aliases }) => (aliases.v1 === undefined ? [] : [[aliases.v1, name]])),
);

const NONE: V1Compression = { compression: "none", compression_opts: null };
const POINTER = "/compression";

/**
 * Reads the only codec in `meta`; undefined for an uncompressed array. @throws `invalid-metadata`,
 * `unsupported-codec`
 */
export function parseV1Compression(document: JsonObject): CodecConfig | undefined {
  const compression = required(document, "compression");
  const options = required(document, "compression_opts");
  if (compression === null || compression === "none") return undefined;
  if (typeof compression !== "string") throw invalidMetadata(POINTER, "must be a name or null", compression);
  const name = CODEC_NAMES.get(compression);
  if (name === undefined) {
    const hint = `The known codecs are ${[...CODEC_NAMES.keys()].join(", ")} and none.`;
    throw refusal("unsupported-codec", POINTER, "the codec is not known", compression, hint);
  }
  const json: JsonObject = { compression, compression_opts: options };
  return {
    name,
    configuration: configurationOf(name, options),
    stated: { zarrFormat: "v1", json, pointer: POINTER },
  };
}

/** Converts options to the canonical form; null means the writer's default. */
function configurationOf(name: string, options: JsonValue): JsonObject {
  const pointer = "/compression_opts";
  if (name === "blosc") return canonicalConfiguration(name, assertObject(options ?? {}, pointer));
  if (name === "lzma") {
    const usual = { format: 1, check: -1, preset: null, filters: null };
    return { ...usual, ...canonicalConfiguration(name, assertObject(options ?? {}, pointer)) };
  }
  const level = integerOf(options ?? 1);
  if (level === undefined) throw invalidMetadata(pointer, "must be a level or null", options);
  return { level: Number(level) };
}

/**
 * Writes the compression from the bytes -> bytes codecs. v1 allows at most one. Keeps the original v1 form if it
 * still means the same.
 */
export function writeV1Compression(
  codecs: readonly CodecConfig[],
  itemSize: number,
  losses: Losses,
): V1Compression {
  const [codec] = codecs.filter(({ name }) => [...CODEC_NAMES.values()].includes(name));
  for (const other of codecs) if (other !== codec) refuse(other, `the codec \`${other.name}\``, losses);
  if (codec === undefined) return NONE;
  const stated = statedCompression(codec);
  if (stated) return stated;
  const { name } = codec;
  const { level = 1, blocksize = 0, ...options } = numcodecsConfiguration(codec);
  if (name === "blosc") {
    if (blocksize !== 0) losses.add(pointerOf(codec), "a block size of blosc");
    if (options.cname === "zstd")
      refuse(codec, "`zstd` inside blosc, which v1 readers do not support", losses);
    const shuffle = options.shuffle === -1 ? (itemSize === 1 ? 2 : 1) : options.shuffle;
    return { compression: name, compression_opts: { ...options, shuffle: shuffle ?? 1 } };
  }
  if (name === "v1.gzip") refuse(codec, "the name `gzip`, which is ambiguous", losses);
  return { compression: name, compression_opts: name === "lzma" ? options : level };
}

function statedCompression({ name, configuration, stated }: CodecConfig): V1Compression | undefined {
  if (stated?.zarrFormat !== "v1" || !isJsonObject(stated.json)) return undefined;
  const now = parseV1Compression(stated.json);
  const isSame = now?.name === name && jsonEqual(now.configuration, configuration);
  return isSame ? { ...NONE, ...stated.json } : undefined;
}

function refuse(codec: CodecConfig, reason: string, losses: Losses): void {
  losses.require(pointerOf(codec), reason);
}

function pointerOf({ stated }: CodecConfig): string {
  return stated?.pointer ?? POINTER;
}

/**
 * Reads a v1 fill value as little-endian bytes. The form is that of v2, but a complex number may be given by its real
 * part alone, as the v1 writer stores it.
 *
 * @throws `invalid-metadata`
 */
export function parseFillV1(
  json: JsonValue,
  dataType: DataType,
  endian: Endian | undefined,
  pointer: string,
): Uint8Array | null {
  const isReal = dataType.kind === "complex" && json !== null && !Array.isArray(json);
  return parseFillV2(isReal ? [json, 0] : json, dataType, endian, pointer);
}

/**
 * Writes a v1 fill value: a number (including NaN and infinities), a boolean, text or null. Undefined for values
 * without such a form. These include bytes, because the original reader would use their Base64 text as the value.
 */
export function writeFillV1(bytes: Uint8Array | null, dataType: DataType): JsonValue | undefined {
  if (bytes === null) return null;
  switch (dataType.kind) {
    case "float":
    case "complex": {
      const json = writeNumber(bytes, dataType, { write: writeBareFloat });
      const isReal = Array.isArray(json) && partsOf(bytes)[1].every((byte) => byte === 0);
      return isReal ? json[0] : json;
    }
    case "fixed-bytes":
    case "raw":
    case "struct":
      return bytes.every((byte) => byte === 0) ? zeroOf(dataType) : undefined;
    default:
      return writeFillV2(bytes, dataType, "little");
  }
}

/** Writes NaN and infinities as bare numbers, not as words. */
function writeBareFloat(bytes: Uint8Array, kind: NumberKind): JsonValue | undefined {
  const json = writeFloatFill(bytes, kind);
  return typeof json === "string" ? Number(json) : json;
}

/** The form of zero bytes that no reader takes for the digit 0 of text. */
function zeroOf(dataType: DataType): 0 | "" {
  if (dataType.kind === "fixed-bytes" || dataType.kind === "fixed-text") return "";
  const isText = dataType.kind === "struct" && dataType.fields.some((field) => zeroOf(field.dataType) === "");
  return isText ? "" : 0;
}
