import { type JsonObject, type JsonValue, pointerTo } from "../../util/json-value.ts";
import type { ArrayMetadata } from "../array-metadata.ts";
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
import { type DataType, isFixed } from "../data-type.ts";
import { attributesOf, keptNames } from "../documents.ts";
import { hasByteOrder } from "../element-order.ts";
import { parseNumber, writeNumber } from "../fill-values.ts";
import type { Finding } from "../format.ts";
import { Losses } from "../losses.ts";
import type { MemoryOrder } from "../memory-order.ts";
import { isNumber } from "../number-kinds.ts";
import { restoreSpelling, statedFill, wordingOf } from "../round-trip.ts";
import { parseDraftCodecs, writeDraftCodecs } from "./codecs.ts";
import { coreName, parseDraftType, writeDraftType } from "./data-type.ts";
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
