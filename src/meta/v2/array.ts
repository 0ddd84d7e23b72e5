import { type JsonObject, type JsonValue, pointerTo } from "../../util/json-value.ts";
import type { ArrayMetadata, CodecConfig } from "../array-metadata.ts";
import {
  assertChunkShape,
  assertShape,
  assertWord,
  hasZero,
  integerOf,
  invalidMetadata,
  member,
  memberOr,
  refusal,
  required,
  tokenOf,
} from "../assert-json.ts";
import type { DataType } from "../data-type.ts";
import { keptNames, otherNames } from "../documents.ts";
import { usualFillV2 } from "../fill-values.ts";
import type { Finding } from "../format.ts";
import { Losses } from "../losses.ts";
import { numberKindOf } from "../number-kinds.ts";
import {
  BEFORE_CONVERSION,
  parseBeforeConversion,
  restoreSpelling,
  statedFill,
  wordingOf,
  writeBeforeConversion,
} from "../round-trip.ts";
import { parseV2Codecs, writeV2Codecs } from "./codecs.ts";
import { parseNumpyType } from "./data-type.ts";
import { parseFillV2, writeFillV2 } from "./fill-value.ts";
import { writeNumpyType } from "./numpy-type.ts";

/** Members whose spelling is kept; the byte order mark of `dtype`, codecs and fill value have their own rules. */
const WORDED = ["shape", "chunks", "order", "filters", "dimension_separator"];
const NAMES = [...WORDED, "zarr_format", "dtype", "compressor", "fill_value"];
const SEPARATORS = [".", "/"] as const;

/** Metadata of an array that come from `.zarray`. */
export type ZarrayMetadata = Omit<ArrayMetadata, "kind" | "attributes" | "dimensionNames">;

/** @throws `invalid-metadata`, `unsupported-*`, `resource-limit`. */
export function parseZarray(
  document: JsonObject,
  findings: Finding[],
  usualSeparator: "." | "/",
): ZarrayMetadata {
  assertFormat2(document);
  const shape = assertShape(required(document, "shape"), "/shape");
  const chunkShape = assertChunkShape(required(document, "chunks"), shape, "/chunks");
  const stored = parseNumpyType(required(document, "dtype"), "/dtype");
  const coding = {
    order: assertWord(required(document, "order"), ["C", "F"], "/order"),
    filters: member(document, "filters") ?? null,
    compressor: required(document, "compressor"),
  } as const;
  const { codecs, dataType } = parseV2Codecs(coding, stored, shape.length);
  const fill = required(document, "fill_value");
  const usual = usualFillV2(fill, dataType, (message) => findings.push({ message, pointer: "/fill_value" }));
  const bytes = parseFillV2(usual, dataType, stored.endian, "/fill_value");
  const separator = memberOr(document, "dimension_separator", usualSeparator);
  if (member(document, "filters") === undefined)
    findings.push({ message: "`filters` is missing; null is used", pointer: "/filters" });
  const extra = otherNames(document, [...NAMES, BEFORE_CONVERSION]);
  for (const name of Object.keys(extra)) {
    findings.push({
      message: `the member \`${name}\` is not part of this format`,
      pointer: pointerTo("", name),
    });
  }
  const metadata: ZarrayMetadata = {
    shape,
    dataType,
    chunkGrid: { chunkShape },
    chunkKeyEncoding: {
      name: "plain",
      separator: assertWord(separator, SEPARATORS, "/dimension_separator"),
    },
    codecs,
    fillValue: hasBareToken(fill) ? { bytes } : { bytes, stated: { zarrFormat: "v2", json: fill } },
    ...parseBeforeConversion(document),
    ...(Object.keys(extra).length > 0 && { extra: { zarrFormat: "v2", json: extra } }),
  };
  const hasFilters = codecs.some(isFilter);
  const isWorded = (name: string) =>
    // filters keep their own spelling as long as they mean the same
    name === "filters" ? !hasFilters : name !== "chunks" || !hasZero(document.chunks);
  const wording = wordingOf("v2", document, writeZarray(metadata, new Losses()), WORDED.filter(isWorded));
  return wording ? { ...metadata, wording } : metadata;
}

/** Checks that `zarr_format` is the number 2. */
export function assertFormat2(document: JsonObject): void {
  const format = required(document, "zarr_format");
  if (integerOf(format) === 2n) return;
  if (tokenOf(format) === undefined) throw invalidMetadata("/zarr_format", "must be the number 2", format);
  throw refusal("unsupported-format", "/zarr_format", "not the number 2", format);
}

function isFilter({ stated }: CodecConfig): boolean {
  return stated?.pointer.startsWith("/filters/") === true;
}

function hasBareToken(json: JsonValue): boolean {
  if (typeof json === "number") return !Number.isFinite(json);
  return Array.isArray(json) && json.some(hasBareToken);
}

/** Writes the `.zarray` of an array. */
export function writeZarray(metadata: ZarrayMetadata, losses: Losses): JsonObject {
  const { shape, chunkGrid, chunkKeyEncoding, dataType, codecs } = metadata;
  if (chunkKeyEncoding.name !== "plain") {
    losses.require("/chunk_key_encoding", "keys that start with `c`");
  }
  noteOtherTypes(dataType, losses);
  const { endian, ...coding } = writeV2Codecs(codecs, dataType, shape.length, losses);
  const zarray: JsonObject = {
    ...keptNames(metadata.extra, "v2", losses),
    zarr_format: 2,
    shape: [...shape],
    chunks: [...chunkGrid.chunkShape],
    dtype: writeNumpyType(dataType, endian),
    fill_value: writeFill(metadata, endian, losses),
    ...coding,
    ...(chunkKeyEncoding.separator === "/" && { dimension_separator: "/" }),
    ...writeBeforeConversion(metadata, "v2"),
  };
  return restoreSpelling(zarray, "v2", metadata.wording);
}

/** Reports times without a unit and numbers that NumPy lacks, including those in fields. */
export function noteOtherTypes(dataType: DataType, losses: Losses): void {
  if ("unit" in dataType && dataType.unit === "generic") {
    losses.require("/data_type", "times without a unit");
  }
  const number = numberKindOf(dataType);
  if (number && number.numpy === undefined) losses.require("/data_type", `the data type \`${number.name}\``);
  if (dataType.kind !== "struct") return;
  for (const field of dataType.fields) noteOtherTypes(field.dataType, losses);
}

function writeFill(
  { fillValue, dataType }: ZarrayMetadata,
  endian: "little" | "big" | undefined,
  losses: Losses,
): JsonValue {
  const stated = statedFill(fillValue, "v2", (json) =>
    parseFillV2(usualFillV2(json, dataType), dataType, endian, "/fill_value"),
  );
  const json = stated ?? writeFillV2(fillValue.bytes, dataType, endian);
  if (json !== undefined) return json;
  losses.add("/fill_value", "a NaN with a payload, or text that is not Unicode");
  return dataType.kind === "complex" ? ["NaN", "NaN"] : dataType.kind === "float" ? "NaN" : null;
}
