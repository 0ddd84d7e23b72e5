import { type JsonObject, type JsonPath, type JsonValue, pointerTo } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import { normalizePath } from "../../util/node-path.ts";
import type { ArrayMetadata, CodecConfig, GroupMetadata, NodeMetadata } from "../array-metadata.ts";
import {
  assertChunkShape,
  assertShape,
  assertWord,
  hasZero,
  member,
  memberOr,
  required,
} from "../assert-json.ts";
import { readConsolidatedV2 } from "../consolidated.ts";
import type { DataType } from "../data-type.ts";
import {
  assertFormatNumber,
  inDocument,
  keptNames,
  Losses,
  noteNonFinite,
  otherNames,
  parseDocument,
} from "../documents.ts";
import { usualFillV2 } from "../fill-values.ts";
import type {
  DocumentLimits,
  Documents,
  Finding,
  FormatDefinition,
  NodeLayout,
  ParsedNode,
  WriteOptions,
} from "../format.ts";
import { folderLayout } from "../node-layout.ts";
import { numberKindOf } from "../number-kinds.ts";
import {
  BEFORE_CONVERSION,
  parseBeforeConversion,
  restoreSpelling,
  statedFill,
  wordingOf,
  writeBeforeConversion,
} from "../round-trip.ts";
import { withoutShards } from "../shards.ts";
import { inMemoryOrder, parseV2Codecs, writeV2Codecs } from "./codecs.ts";
import { isNcZarr, withShuffledItems } from "./configuration.ts";
import { parseNumpyType } from "./data-type.ts";
import { parseFillV2, writeFillV2 } from "./fill-value.ts";
import { writeNumpyType } from "./numpy-type.ts";

export interface V2Options {
  /** Separator of arrays that do not state one; "/" for nested folders of writers that omitted it. */
  readonly separator?: "." | "/" | undefined;
}

/** Zarr v2: a node is `.zarray` or `.zgroup`, with attributes in `.zattrs`, including dimension names. */
export function v2Format({ separator = "." }: V2Options = {}): FormatDefinition {
  return {
    name: "v2",
    layout: layoutV2,
    parse: (documents, layout, limits) => parseNode(documents, layout, separator, limits),
    write: writeNode,
    readConsolidated: readConsolidatedV2,
    adopt: (metadata) => withVlen(inMemoryOrder(withoutShards(metadata))),
  };
}

function parseNode(
  documents: Documents,
  layout: NodeLayout,
  separator: "." | "/",
  limits?: DocumentLimits,
): ParsedNode | undefined {
  const findings: Finding[] = [];
  const read = <T>(name: string, parse: (document: JsonObject) => T): T | undefined => {
    const key = keyOf(layout, name);
    const bytes = documents.get(key);
    if (bytes === undefined) return undefined;
    return inDocument(layout, key, () =>
      parse(parseDocument(bytes, findings, NON_FINITE_AT[name] ?? nowhere, limits)),
    );
  };
  const array = read(".zarray", (document) => parseZarray(document, findings, separator));
  if (array !== undefined && documents.has(keyOf(layout, ".zgroup"))) {
    findings.push({ message: "both `.zarray` and `.zgroup` exist; the array is used" });
  }
  const group = array ?? read(".zgroup", (document) => parseZgroup(document, findings));
  if (group === undefined) return undefined;
  const attributes = read(".zattrs", (document) => document) ?? {};
  if (array === undefined) return { metadata: { kind: "group", attributes, ...group }, findings };
  const isOfNcZarr = isNcZarr(array.extra?.json ?? {}, attributes);
  const metadata: NodeMetadata = {
    kind: "array",
    ...array,
    codecs: withShuffledItems(array.codecs, array.dataType, { isOfNcZarr, findings }),
    ...takeDimensionNames(attributes, array.shape.length, findings),
  };
  return { metadata, findings };
}

/** Places where each document may contain bare NaN tokens. */
const NON_FINITE_AT: Readonly<Record<string, (path: JsonPath) => boolean>> = {
  ".zarray": ([name]) => name === "fill_value",
  ".zattrs": () => true,
};
const nowhere = () => false;

function keyOf({ documentKeys }: NodeLayout, name: string): string {
  return documentKeys.find((key) => key.endsWith(name)) ?? name;
}

function parseZgroup(document: JsonObject, findings: Finding[]): Pick<GroupMetadata, "extra"> {
  assertFormatNumber(document, 2);
  const extra = otherNames(document, ["zarr_format", "consolidated_metadata"]);
  const names = Object.keys(extra);
  if (names.length === 0) return {};
  for (const name of names) {
    findings.push({
      message: `the member \`${name}\` is not part of this format`,
      pointer: pointerTo("", name),
    });
  }
  return { extra: { zarrFormat: "v2", json: extra } };
}

function writeNode(
  metadata: NodeMetadata,
  layout: NodeLayout,
  options: WriteOptions = {},
): Map<string, Uint8Array> {
  const losses = new Losses(options.allowLoss);
  const attributes = metadata.kind === "array" ? withDimensionNames(metadata, losses) : metadata.attributes;
  noteNonFinite(attributes, "/attributes", losses);
  const [name, document]: [string, JsonObject] =
    metadata.kind === "array"
      ? [".zarray", writeZarray(metadata, losses)]
      : [".zgroup", { ...keptNames(metadata.extra, "v2", losses), zarr_format: 2 }];
  losses.check("v2", layout.path);
  const documents = new Map<string, Uint8Array>();
  if (Object.keys(attributes).length > 0) documents.set(keyOf(layout, ".zattrs"), toBytes(attributes));
  return documents.set(keyOf(layout, name), toBytes(document));
}

/** Formats documents like zarr-python: sorted names, four spaces, ASCII. */
function toBytes(document: JsonValue): Uint8Array {
  const text = writeJson(document, { indent: 4, sortNames: true, ascii: true, nonFinite: "null" });
  return new TextEncoder().encode(text);
}

/** Stores variable-length items with their lengths: v2 does not have ZEP 7's layout with offsets. */
function withVlen(metadata: ArrayMetadata): ArrayMetadata {
  const vlen = metadata.dataType.kind === "string" ? "vlen-utf8" : "vlen-bytes";
  const codecs = metadata.codecs.map((codec) =>
    codec.name === "zep0007" ? { name: vlen, configuration: {} } : codec,
  );
  return { ...metadata, codecs };
}

/**
 * Keys of a v2 node: documents and chunks are in one folder, the node's path.
 *
 * @throws `path-not-allowed` for a segment `.` or `..`.
 */
export function layoutV2(path: string): NodeLayout {
  return folderLayout("v2", normalizePath(path), {
    documents: [".zattrs", ".zarray", ".zgroup"],
    attributes: ".zattrs",
    group: ".zgroup",
    consolidated: ".zmetadata",
    wantsAscii: true,
  });
}

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
  assertFormatNumber(document, 2);
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

export function isFilter({ stated }: CodecConfig): boolean {
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

/** The attribute that contains the dimension names in formats without a member for them. */
const DIMENSIONS = "_ARRAY_DIMENSIONS";

/** Moves the dimension names out of the attributes, unless they are not a list of one string per dimension. */
export function takeDimensionNames(
  attributes: JsonObject,
  rank: number,
  findings: Finding[],
): Pick<ArrayMetadata, "attributes" | "dimensionNames"> {
  const names = member(attributes, DIMENSIONS);
  if (names === undefined) return { attributes };
  if (!Array.isArray(names) || names.length !== rank || !names.every((name) => typeof name === "string")) {
    findings.push({ message: `must name each of ${rank} dimensions`, pointer: `/${DIMENSIONS}` });
    return { attributes };
  }
  return { attributes: otherNames(attributes, [DIMENSIONS]), dimensionNames: names };
}

/** The attributes of an array, with its dimension names added. */
export function withDimensionNames(
  { attributes, dimensionNames }: ArrayMetadata,
  losses: Losses,
): JsonObject {
  if (dimensionNames === undefined) return attributes;
  if (dimensionNames.includes(null)) {
    if (dimensionNames.some((name) => name !== null)) {
      losses.add("/dimension_names", "an array that names only some of its dimensions");
    }
    return attributes;
  }
  if (Object.hasOwn(attributes, DIMENSIONS)) {
    losses.add(`/attributes/${DIMENSIONS}`, "an attribute in place of the dimension names");
  }
  return { ...attributes, [DIMENSIONS]: [...dimensionNames] };
}
