import { builtinCodecs } from "../../codecs/catalog.ts";
import { type JsonObject, type JsonValue, jsonEqual, pointerTo } from "../../util/json-value.ts";
import type { ArrayMetadata, CodecConfig } from "../array-metadata.ts";
import {
  assertInteger,
  assertObject,
  assertRank,
  assertString,
  assertWord,
  invalidMetadata,
  isJsonObject,
  member,
  memberOr,
  refusal,
  required,
} from "../assert-json.ts";
import { type DataType, type Endian, hasByteOrder, isFixed } from "../data-type.ts";
import { attributesOf, keptNames, Losses } from "../documents.ts";
import { parseNumber, writeNumber } from "../fill-values.ts";
import type { Finding } from "../format.ts";
import { isNumber, numberKindOf } from "../number-kinds.ts";
import { restoreSpelling, statedFill, wordingOf } from "../round-trip.ts";
import { type MemoryOrder, orderOf, transposesOf } from "../v2/codecs.ts";
import { canonicalConfiguration, numcodecsConfiguration } from "../v2/configuration.ts";
import { parseNumpyType, type StoredType } from "../v2/data-type.ts";
import { writeNumpyType } from "../v2/numpy-type.ts";
import { assertLevel } from "../v3/codecs.ts";
import { type DraftForm, parseDraftExtensions, unknownExtension } from "./form.ts";

const WORDED = ["shape", "chunk_grid", "chunk_memory_layout", "compressor", "extensions"];
const SEPARATORS = [".", "/"] as const;

/**
 * Parses an array's document in a draft; ignores members that are not part of the format.
 *
 * @throws `invalid-metadata`, `unsupported-*`.
 */
export function parseDraftArray(document: JsonObject, form: DraftForm, findings: Finding[]): ArrayMetadata {
  const shape = assertSizes(assertRank(required(document, "shape"), "/shape"), 0, "/shape");
  const type = parseDraftType(required(document, "data_type"), form, "/data_type", findings);
  const { chunkShape, separator } = parseGrid(required(document, "chunk_grid"), shape.length, form);
  const coding = {
    order: parseOrder(required(document, "chunk_memory_layout")),
    endian: type.endian,
    compressor: member(document, "compressor") ?? null,
  };
  const codecs = parseDraftCodecs(coding, shape.length, form);
  const { dataType } = type;
  const fill = required(document, "fill_value");
  const extensions = parseDraftExtensions(document, findings);
  const extra: JsonObject = {
    ...(extensions.length > 0 && { extensions }),
    ...(type.extension && { data_type: type.extension }),
  };
  const metadata: ArrayMetadata = {
    kind: "array",
    shape,
    dataType,
    chunkGrid: { chunkShape },
    chunkKeyEncoding: { name: "plain", separator },
    codecs,
    fillValue: {
      bytes: parseDraftFill(fill, dataType, "/fill_value"),
      stated: { zarrFormat: form.name, json: fill },
    },
    attributes: attributesOf(document),
    ...(Object.keys(extra).length > 0 && { extra: { zarrFormat: form.name, json: extra } }),
  };
  noteAbsent(document, findings);
  const wording = wordingOf(form.name, document, writeDraftArray(metadata, form, new Losses()), WORDED);
  return wording ? { ...metadata, wording } : metadata;
}

/** Reports members that the specification requires but readers do not need. */
function noteAbsent(document: JsonObject, findings: Finding[]): void {
  for (const name of ["extensions", "attributes"]) {
    if (Object.hasOwn(document, name)) continue;
    findings.push({
      message: `\`${name}\` is required, but missing; an empty value is used`,
      pointer: pointerTo("", name),
    });
  }
}

/** Checks integers of at least `least`; errors point to the whole list. */
function assertSizes(list: readonly JsonValue[], least: number, pointer: string): number[] {
  return list.map((n) => assertInteger(n, least, pointer));
}

/** Reads the chunk shape of a grid, and the separator in chunk keys. */
function parseGrid(json: JsonValue, rank: number, form: DraftForm) {
  const pointer = "/chunk_grid";
  const grid = assertObject(json, pointer);
  if (Object.hasOwn(grid, "extension")) throw unknownExtension(grid, pointer, "chunk grids");
  const type = assertString(required(grid, "type", pointer), `${pointer}/type`);
  if (type !== "regular") {
    throw refusal("unsupported-extension", pointer, `the chunk grid \`${type}\` is not known`, type);
  }
  const shapeAt = `${pointer}/chunk_shape`;
  const list = assertRank(required(grid, "chunk_shape", pointer), shapeAt);
  if (list.length !== rank)
    throw invalidMetadata(shapeAt, `must have ${rank} numbers, one per dimension`, list);
  const separator = memberOr(grid, "separator", form.separator);
  return {
    chunkShape: assertSizes(list, 1, shapeAt),
    separator: assertWord(separator, SEPARATORS, `${pointer}/separator`),
  };
}

function parseOrder(json: JsonValue): MemoryOrder {
  const pointer = "/chunk_memory_layout";
  if (isJsonObject(json)) throw unknownExtension(json, pointer, "memory layouts");
  return assertWord(json, ["C", "F"], pointer);
}

/** Writes the document of an array; reports what the draft cannot represent. */
export function writeDraftArray(metadata: ArrayMetadata, form: DraftForm, losses: Losses): JsonObject {
  const { shape, dataType, chunkGrid, chunkKeyEncoding, dimensionNames } = metadata;
  const { separator } = chunkKeyEncoding;
  const { extensions = [], data_type: extension } = keptNames(metadata.extra, form.name, losses);
  const coding = writeDraftCodecs(metadata.codecs, shape.length, form, losses);
  const endian = isFixed(dataType) && hasByteOrder(dataType) ? (coding.endian ?? "little") : undefined;
  if (chunkKeyEncoding.name !== "plain") losses.require("/chunk_key_encoding", "keys that start with `c`");
  if (dimensionNames?.some((name) => name !== null)) losses.add("/dimension_names", "names of dimensions");
  const isStillFallback = isJsonObject(extension) && extension.fallback === coreName(dataType, endian);
  const document: JsonObject = {
    shape: [...shape],
    data_type: isStillFallback ? extension : writeDraftType(dataType, endian, form, losses),
    chunk_grid: {
      type: "regular",
      chunk_shape: [...chunkGrid.chunkShape],
      ...((form.statesSeparator || separator !== form.separator) && { separator }),
    },
    chunk_memory_layout: coding.order,
    ...(coding.compressor !== null && { compressor: coding.compressor }),
    fill_value: writeFill(metadata, form, losses),
    extensions,
    attributes: metadata.attributes,
  };
  return restoreSpelling(document, form.name, metadata.wording);
}

function writeFill({ fillValue, dataType }: ArrayMetadata, form: DraftForm, losses: Losses): JsonValue {
  const stated = statedFill(fillValue, form.name, (json) => parseDraftFill(json, dataType, "/fill_value"));
  const json = stated ?? writeDraftFill(fillValue.bytes, dataType);
  if (json !== undefined) return json;
  if (dataType.kind !== "float" && dataType.kind !== "complex") return null; // already a loss, at the data type
  losses.add("/fill_value", "a NaN with a payload");
  return dataType.kind === "complex" ? ["NaN", "NaN"] : "NaN";
}

/**
 * Reads a fill value as little-endian bytes; null if the content of missing chunks is undefined.
 *
 * @throws `invalid-metadata`
 */
export function parseDraftFill(json: JsonValue, dataType: DataType, pointer: string): Uint8Array | null {
  if (json === null) return null;
  if (isNumber(dataType)) return parseNumber(json, dataType, pointer, {});
  throw invalidMetadata(pointer, "the fill value of this data type must be null", json);
}

/**
 * Writes a fill value in the same form as v2; undefined if it has no such form: a NaN with a payload, a type beyond
 * the core.
 */
export function writeDraftFill(bytes: Uint8Array | null, dataType: DataType): JsonValue | undefined {
  if (bytes === null) return null;
  return isNumber(dataType) ? writeNumber(bytes, dataType, {}) : undefined;
}

/** Compressors, by the last name of their URI. */
const IDS = builtinCodecs().flatMap(({ aliases }) => aliases.v3Draft ?? []);
const URI = /^https?:\/\/purl\.org\/zarr\/spec\/codec\/([a-z0-9]+)(?:\/1\.0)?$/;
const POINTER = "/compressor";

/** The members of a draft's array that define the encoding of a chunk. */
export interface DraftCoding {
  readonly order: MemoryOrder;
  readonly endian: Endian | undefined;
  /** null without a compressor. */
  readonly compressor: JsonValue;
}

/**
 * Builds the codec list: memory layout, byte order, compressor.
 *
 * @throws `unsupported-codec`, `invalid-metadata`.
 */
export function parseDraftCodecs(coding: DraftCoding, rank: number, form: DraftForm): CodecConfig[] {
  const { order, endian, compressor } = coding;
  const bytes: CodecConfig = { name: "bytes", configuration: endian ? { endian } : {} };
  const codecs = [...transposesOf(order, rank), bytes];
  return compressor === null ? codecs : [...codecs, parseCompressor(compressor, form)];
}

function parseCompressor(json: JsonValue, { name: zarrFormat }: DraftForm): CodecConfig {
  const object = assertObject(json, POINTER);
  const pointer = pointerTo(POINTER, "codec");
  const uri = assertString(required(object, "codec", POINTER), pointer);
  const [, id = ""] = URI.exec(uri) ?? [];
  if (!IDS.includes(id)) throw refusal("unsupported-codec", pointer, "the codec is not known", uri);
  const at = pointerTo(POINTER, "configuration");
  const configuration = canonicalConfiguration(id, assertObject(memberOr(object, "configuration", {}), at));
  if (id === "gzip") assertLevel(configuration, "level", at);
  return { name: id, configuration, stated: { zarrFormat, json, pointer } };
}

/** Writes a codec list as a draft's encoding; reports what the draft cannot represent. */
export function writeDraftCodecs(
  codecs: readonly CodecConfig[],
  rank: number,
  form: DraftForm,
  losses: Losses,
): DraftCoding {
  const pointerAt = (i: number) => codecs[i]?.stated?.pointer ?? pointerTo("/codecs", i);
  const toBytes = codecs.findIndex(({ name }) => name === "bytes");
  const last = codecs.length - 1;
  codecs.forEach(({ name }, i) => {
    const fits = i < toBytes ? name === "transpose" : i === toBytes || (i === last && IDS.includes(name));
    if (!fits) losses.require(pointerAt(i), `the codec \`${name}\` here`);
  });
  const order = orderOf(codecs, rank);
  if (order === undefined) losses.require(pointerAt(0), "an order other than C and F");
  const compressor = last > toBytes ? codecs[last] : undefined;
  const endian = codecs[toBytes]?.configuration.endian;
  return {
    order: order ?? "C",
    endian: endian === undefined ? undefined : endian === "big" ? "big" : "little",
    compressor: compressor ? writeCompressor(compressor, form) : null,
  };
}

/** Writes a compressor, keeping its original form in the draft if it still means the same. */
function writeCompressor(codec: CodecConfig, form: DraftForm): JsonValue {
  const { name, configuration, stated } = codec;
  if (stated?.zarrFormat === form.name) {
    const parsed = parseCompressor(stated.json, form);
    if (parsed.name === name && jsonEqual(parsed.configuration, configuration)) return stated.json;
  }
  return { codec: form.codecUri(name), configuration: numcodecsConfiguration(codec) };
}

const CORE = /^(?:bool|[iu]1|[<>](?:[iu][248]|f[248]))$/;

/** The extension for times, which readers without it read as integers. */
const DATETIME = "http://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0";

/**
 * A data type of a draft. If it is an extension that is read as its fallback, `extension` is the object as written.
 */
export interface DraftType extends StoredType {
  readonly extension?: JsonObject;
}

/** @throws `unsupported-data-type` if it is not a core type and has no fallback; `invalid-metadata`. */
export function parseDraftType(
  json: JsonValue,
  form: DraftForm,
  pointer: string,
  findings: Finding[],
): DraftType {
  if (typeof json === "string") {
    const type = coreType(json);
    if (type) return type;
    throw refusal(
      "unsupported-data-type",
      pointer,
      "not a data type in this format",
      json,
      "A type is `bool`, `i1`, `u1`, or byte order, kind and size, such as `<f8`.",
    );
  }
  if (!isJsonObject(json))
    throw invalidMetadata(pointer, "must be a type string or an object of an extension", json);
  const uri = assertString(required(json, "extension", pointer), pointerTo(pointer, "extension"));
  const stated = required(json, "type", pointer);
  const known = knownType(uri, stated, form, pointerTo(pointer, "type"));
  if (known) return known;
  const fallback = member(json, "fallback") ?? null;
  if (fallback === null) {
    throw refusal(
      "unsupported-data-type",
      pointer,
      "an extension that is not known, without a fallback",
      uri,
    );
  }
  const type = typeof fallback === "string" ? coreType(fallback) : undefined;
  if (!type) throw invalidMetadata(pointerTo(pointer, "fallback"), "must be a core data type", fallback);
  findings.push({ message: `the data type of \`${uri}\` is read as its fallback, \`${fallback}\``, pointer });
  return { ...type, extension: json };
}

/** Reads an extension type of the draft's own writers. */
function knownType(uri: string, json: JsonValue, form: DraftForm, pointer: string): StoredType | undefined {
  if (![...form.extensionTypes.values()].includes(uri)) return undefined;
  const type = parseNumpyType(json, pointer);
  return form.extensionTypes.get(type.dataType.kind) === uri ? type : undefined;
}

function coreType(name: string): StoredType | undefined {
  if (!CORE.test(name)) return undefined;
  if (name === "bool") return parseNumpyType("|b1", "");
  return parseNumpyType(name.length === 2 ? `|${name}` : name, "");
}

/**
 * Writes a data type. A draft without times stores them in an extension, which counts as a loss because other readers
 * see integers.
 */
export function writeDraftType(
  dataType: DataType,
  endian: Endian | undefined,
  form: DraftForm,
  losses: Losses,
): JsonValue {
  const extension = form.extensionTypes.get(dataType.kind);
  if (extension) return { extension, type: writeNumpyType(dataType, endian), fallback: null };
  if (dataType.kind === "datetime" || dataType.kind === "timedelta") {
    losses.add("/data_type", "times, which are read as integers");
    const type = writeNumpyType(dataType, endian);
    return { extension: DATETIME, type, fallback: coreName({ kind: "int", size: 8 }, endian) };
  }
  const name = coreName(dataType, endian);
  if (!CORE.test(name))
    losses.require("/data_type", `the data type \`${numberKindOf(dataType)?.name ?? dataType.kind}\``);
  return name;
}

/** The draft's name of a core type; NumPy's name of any other. */
export function coreName(dataType: DataType, endian: Endian | undefined): string {
  const name = String(writeNumpyType(dataType, endian));
  return name === "|b1" ? "bool" : name.replace(/^\|(?=[iu]1$)/, "");
}
