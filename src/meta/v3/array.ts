import { type JsonObject, type JsonValue, pointerTo } from "../../util/json-value.ts";
import type { ArrayMetadata, CodecConfig } from "../array-metadata.ts";
import {
  assertChunkShape,
  assertList,
  assertShape,
  hasZero,
  invalidMetadata,
  isJsonObject,
  member,
  memberOr,
  refusal,
  required,
} from "../assert-json.ts";
import { isNcZarr, withShuffledItems } from "../conventions/nczarr-shuffle.ts";
import type { DataType } from "../data-type.ts";
import { attributesOf, keptNames, otherNames } from "../documents.ts";
import { assertMayBeIgnored, assertNoOthers, parseExtension, writeExtension } from "../extension.ts";
import { usualFill, zeroElement } from "../fill-values.ts";
import type { Finding } from "../format.ts";
import { Losses } from "../losses.ts";
import { parseChunkKeyEncoding, writeChunkKeyEncoding } from "../node-layout.ts";
import {
  BEFORE_CONVERSION,
  parseBeforeConversion,
  restoreSpelling,
  statedFill,
  wordingOf,
  writeBeforeConversion,
} from "../round-trip.ts";
import { parseV3Codecs, writeV3Codecs } from "./codecs.ts";
import { parseV3DataType, writeV3DataType } from "./data-type.ts";
import { parseFillV3, writeFillV3 } from "./fill-value.ts";
import { innerChunkShape, offsetSizeOf } from "./sharding.ts";

const OPTIONAL = ["attributes", "dimension_names", "storage_transformers"];
const REQUIRED = ["shape", "chunk_grid", "chunk_key_encoding", "zarr_format", "node_type"];
const NAMES = [...REQUIRED, ...OPTIONAL, "data_type", "fill_value", "codecs"];

/**
 * A member that only zarrflow reads. v3 requires a fill value, so an undefined one (`null` in v2) is written as zero;
 * this member records that it was undefined.
 */
const UNDEFINED_FILL = "zarrflow.undefined_fill_value";

/**
 * Parses an array's `zarr.json`.
 *
 * @throws `invalid-metadata`, `unsupported-*`, `resource-limit`.
 */
export function parseV3Array(document: JsonObject, findings: Finding[]): ArrayMetadata {
  const extra = otherNames(document, [...NAMES, UNDEFINED_FILL, BEFORE_CONVERSION]);
  assertMayBeIgnored(document, Object.keys(extra), "");
  const shape = assertShape(required(document, "shape"), "/shape");
  const type = parseV3DataType(required(document, "data_type"), "/data_type");
  const chunkShape = parseChunkGrid(required(document, "chunk_grid"), shape, "/chunk_grid");
  const chunkKeyEncoding = parseChunkKeyEncoding(
    required(document, "chunk_key_encoding"),
    "/chunk_key_encoding",
  );
  const { dataType } = type;
  const place = { type, shape: chunkShape, pointer: "/codecs", findings };
  const attributes = attributesOf(document);
  const codecs = withShuffledItems(parseV3Codecs(required(document, "codecs"), place), dataType, {
    isOfNcZarr: isNcZarr(attributes, extra),
    findings,
  });
  const inner = innerChunkShape(codecs, shape.length);
  const fill = required(document, "fill_value");
  const usual = usualFill(fill, dataType, (message) => findings.push({ message, pointer: "/fill_value" }));
  const stated = { zarrFormat: "v3", json: usual } as const;
  const fillBytes = parseFill(usual, dataType, codecs);
  const transformers = parseTransformers(document, findings);
  const dimensionNames = parseDimensionNames(member(document, "dimension_names") ?? null, shape.length);
  const others = { ...extra, ...(transformers.length > 0 && { storage_transformers: transformers }) };
  const metadata: ArrayMetadata = {
    kind: "array",
    shape,
    dataType,
    chunkGrid: { chunkShape, ...(inner && { innerChunkShape: inner }) },
    chunkKeyEncoding,
    codecs,
    fillValue: Object.hasOwn(document, UNDEFINED_FILL) ? { bytes: null } : { bytes: fillBytes, stated },
    attributes,
    ...(dimensionNames && { dimensionNames }),
    ...parseBeforeConversion(document),
    ...(Object.keys(others).length > 0 && { extra: { zarrFormat: "v3", json: others } }),
  };
  const names = [...REQUIRED, ...OPTIONAL, ...(dataType.kind === "struct" ? [] : ["data_type"])];
  const worded = hasZeroLength(document) ? names.filter((name) => name !== "chunk_grid") : names;
  const wording = wordingOf("v3", document, writeV3Array(metadata, new Losses()), worded, OPTIONAL);
  return wording ? { ...metadata, wording } : metadata;
}

function hasZeroLength({ chunk_grid: grid }: JsonObject): boolean {
  const configuration = isJsonObject(grid) ? member(grid, "configuration") : undefined;
  return isJsonObject(configuration) && hasZero(member(configuration, "chunk_shape"));
}

/** Reads the chunk shape of a regular grid. */
function parseChunkGrid(json: JsonValue, shape: readonly number[], pointer: string): number[] {
  const extension = parseExtension(json, pointer);
  if (extension.name !== "regular") {
    throw refusal(
      "unsupported-extension",
      pointer,
      `the chunk grid \`${extension.name}\` is not known`,
      json,
    );
  }
  assertNoOthers(json, extension, ["chunk_shape"]);
  const at = pointerTo(pointer, "configuration");
  return assertChunkShape(
    required(extension.configuration, "chunk_shape", at),
    shape,
    pointerTo(at, "chunk_shape"),
  );
}

/** Reads storage transformers. None is known, so all must be ignorable. */
function parseTransformers(document: JsonObject, findings: Finding[]): JsonValue[] {
  const at = "/storage_transformers";
  const list = assertList(memberOr(document, "storage_transformers", []), at);
  list.forEach((json, i) => {
    const { name, mustUnderstand, pointer } = parseExtension(json, pointerTo(at, i));
    if (mustUnderstand) {
      throw refusal(
        "unsupported-extension",
        pointer,
        `the storage transformer \`${name}\` is not known`,
        json,
      );
    }
    findings.push({ message: `the storage transformer \`${name}\` is ignored`, pointer });
  });
  return list;
}

function parseDimensionNames(json: JsonValue, rank: number): (string | null)[] | undefined {
  if (json === null) return undefined;
  const at = "/dimension_names";
  const names = assertList(json, at);
  if (names.length !== rank) throw invalidMetadata(at, `must have ${rank} names, one per dimension`, json);
  return names.map((name, d) => {
    if (name === null || typeof name === "string") return name;
    throw invalidMetadata(pointerTo(at, d), "must be a string or null", name);
  });
}

/**
 * Reads a fill value. In ZEP 7's layout `null` means an empty one. Structured values in Base64 have the byte order of
 * `bytes`.
 */
function parseFill(json: JsonValue, dataType: DataType, codecs: readonly CodecConfig[]): Uint8Array {
  if (json === null && offsetSizeOf(codecs) !== undefined) return zeroElement(dataType);
  const bytes = codecs.find(({ name }) => name === "bytes");
  const endian = bytes?.configuration.endian === "big" ? "big" : "little";
  return parseFillV3(json, dataType, endian, "/fill_value");
}

/** Writes an array's `zarr.json`, with members in zarr-python's order. */
export function writeV3Array(metadata: ArrayMetadata, losses: Losses): JsonObject {
  const { shape, dataType, chunkGrid, codecs, dimensionNames } = metadata;
  notePossible(dataType, losses);
  const { storage_transformers: transformers = [], ...extra } = keptNames(metadata.extra, "v3", losses);
  const document: JsonObject = {
    shape: [...shape],
    data_type: writeV3DataType(dataType, offsetSizeOf(codecs)),
    chunk_grid: writeExtension("regular", { chunk_shape: [...chunkGrid.chunkShape] }),
    chunk_key_encoding: writeChunkKeyEncoding(metadata.chunkKeyEncoding),
    fill_value: writeFill(metadata, losses),
    codecs: writeV3Codecs(codecs, { dataType, shape: chunkGrid.chunkShape, pointer: "/codecs", losses }),
    attributes: metadata.attributes,
    ...(dimensionNames && { dimension_names: [...dimensionNames] }),
    zarr_format: 3,
    node_type: "array",
    storage_transformers: transformers,
    ...extra,
    ...(metadata.fillValue.bytes === null && { [UNDEFINED_FILL]: { must_understand: false } }),
    ...writeBeforeConversion(metadata, "v3"),
  };
  return restoreSpelling(document, "v3", metadata.wording);
}

function notePossible(dataType: DataType, losses: Losses): void {
  if (dataType.kind === "object") losses.require("/data_type", "objects");
  if (dataType.kind !== "struct") return;
  for (const { name, shape, endian, dataType: type } of dataType.fields) {
    if (name === "") losses.require("/data_type", "padding between fields");
    if (shape) losses.require("/data_type", `the subarray of field \`${name}\``);
    if (endian) losses.require("/data_type", `the byte order of field \`${name}\` alone`);
    notePossible(type, losses);
  }
}

function writeFill({ fillValue, dataType, codecs }: ArrayMetadata, losses: Losses): JsonValue {
  const stated = statedFill(fillValue, "v3", (json) => parseFill(json, dataType, codecs));
  const isOld = dataType.kind === "struct" && typeof stated === "string";
  if (stated !== undefined && !isOld) return stated;
  const json = writeFillV3(fillValue.bytes ?? zeroElement(dataType), dataType);
  if (json === undefined && dataType.kind !== "object") losses.add("/fill_value", "text that is not Unicode");
  return json ?? "";
}
