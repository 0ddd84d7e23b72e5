import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import type { ArrayMetadata, CodecConfig } from "../array-metadata.ts";
import {
  assertInteger,
  assertRank,
  assertWord,
  integerOf,
  invalid,
  member,
  refusal,
  required,
  tokenOf,
} from "../assert-json.ts";
import { isFixed } from "../data-type.ts";
import { keptNames, otherNames } from "../documents.ts";
import { Losses } from "../losses.ts";
import { restoreSpelling, statedFill, wordingOf } from "../original-spelling.ts";
import { noteGenericTimes } from "../v2/array.ts";
import { parseV2Codecs, writeV2Codecs } from "../v2/codec-list.ts";
import { parseNumpyType } from "../v2/data-type.ts";
import { writeNumpyType } from "../v2/numpy-type.ts";
import { parseV1Compression, type V1Compression, writeV1Compression } from "./compression.ts";
import { parseFillV1, writeFillV1 } from "./fill-value.ts";

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
  assertFormat1(document);
  const shape = assertLengths(document, "shape", 0);
  const chunkShape = assertLengths(document, "chunks", 1);
  if (shape.length === 0) throw invalid("/shape", "an array needs at least one dimension", []);
  if (chunkShape.length !== shape.length) {
    throw invalid("/chunks", `must have ${shape.length} numbers, one per dimension`, chunkShape);
  }
  const stored = parseNumpyType(required(document, "dtype"), "/dtype");
  const { dataType, endian } = stored;
  if (!isFixed(dataType))
    throw refusal("unsupported-data-type", "/dtype", "this format has no objects", "|O");
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

/** Checks that `zarr_format` is the number 1. */
function assertFormat1(document: JsonObject): void {
  const format = required(document, "zarr_format");
  if (integerOf(format) === 1n) return;
  if (tokenOf(format) === undefined) throw invalid("/zarr_format", "must be the number 1", format);
  throw refusal("unsupported-format", "/zarr_format", "not the number 1", format);
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
  noteGenericTimes(dataType, losses);
  const { compressors, others } = splitCodecs(codecs);
  const itemSize = isFixed(dataType) ? dataType.size : 1;
  const compression: V1Compression = writeV1Compression(compressors, itemSize, losses);
  const { order, endian } = writeV2Codecs(others, dataType, shape.length, losses);
  if (order === "F" && compression.compression !== "blosc" && v1Order === "as-written") {
    losses.require("/order", 'order "F" without blosc, which readers of v1 read as C');
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
