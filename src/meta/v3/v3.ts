import { ZarrflowError } from "../../util/errors.ts";
import { type JsonObject, type JsonValue, pointerTo } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import type { ArrayMetadata, CodecConfig, GroupMetadata, NodeMetadata } from "../array-metadata.ts";
import {
  assertChunkShape,
  assertList,
  assertShape,
  assertWord,
  hasZero,
  invalidMetadata,
  isJsonObject,
  member,
  memberOr,
  refusal,
  required,
} from "../assert-json.ts";
import { type DataType, withoutFieldOrders } from "../data-type.ts";
import {
  assertFormatNumber,
  attributesOf,
  inDocument,
  keptNames,
  Losses,
  noteNonFinite,
  otherNames,
  parseDocument,
} from "../documents.ts";
import { assertMayBeIgnored, assertNoOthers, parseExtension, writeExtension } from "../extension.ts";
import { usualFill, zeroItem } from "../fill-values.ts";
import type {
  DocumentLimits,
  Documents,
  Finding,
  FormatDefinition,
  NodeLayout,
  ParsedNode,
  WriteOptions,
} from "../format.ts";
import { folderLayout, parseChunkKeyEncoding, writeChunkKeyEncoding } from "../node-layout.ts";
import {
  BEFORE_CONVERSION,
  parseBeforeConversion,
  restoreSpelling,
  statedFill,
  wordingOf,
  writeBeforeConversion,
} from "../round-trip.ts";
import { isNcZarr, withShuffledItems } from "../v2/configuration.ts";
import { parseV3Codecs, writeV3Codecs } from "./codecs.ts";
import { CUT_V3, noteConsolidatedKind, readConsolidatedV3 } from "./consolidated.ts";
import { parseV3DataType, writeV3DataType } from "./data-type.ts";
import { parseFillV3, writeFillV3 } from "./fill-value.ts";
import { innerChunkShape, offsetSizeOf } from "./sharding.ts";

const GROUP_NAMES = ["attributes", "zarr_format", "node_type", "consolidated_metadata"];

/**
 * Zarr v3: a node is `zarr.json`. Consolidated metadata are not part of their group's metadata: reading ignores them,
 * and writing a group drops them because they may be stale.
 */
export const v3: FormatDefinition = {
  name: "v3",
  layout: layoutV3,
  parse: parseNode,
  write: writeNode,
  readConsolidated: readConsolidatedV3,
  adopt: adoptArray,
};

function parseNode(
  documents: Documents,
  layout: NodeLayout,
  limits?: DocumentLimits,
): ParsedNode | undefined {
  const [key = ""] = layout.documentKeys;
  const bytes = documents.get(key);
  if (bytes === undefined) return undefined;
  return inDocument(layout, key, () => {
    const findings: Finding[] = [];
    const document = parseDocument(bytes, findings, ([name]) => name === "attributes", {
      ...limits,
      cut: CUT_V3,
    });
    assertNoDraft(document);
    assertFormatNumber(document, 3);
    const type = assertWord(required(document, "node_type"), ["array", "group"], "/node_type");
    const metadata = type === "array" ? parseV3Array(document, findings) : parseGroup(document, findings);
    return { metadata, findings };
  });
}

function assertNoDraft({ zarr_format: format }: JsonObject): void {
  if (typeof format !== "string" || !/^https?:/.test(format)) return;
  throw refusal("unsupported-format", "/zarr_format", "a draft of Zarr v3, not Zarr v3", format);
}

function parseGroup(document: JsonObject, findings: Finding[]): GroupMetadata {
  const extra = otherNames(document, GROUP_NAMES);
  assertMayBeIgnored(document, Object.keys(extra), "");
  noteConsolidatedKind(document, findings);
  const metadata: GroupMetadata = {
    kind: "group",
    attributes: attributesOf(document),
    ...(Object.keys(extra).length > 0 && { extra: { zarrFormat: "v3", json: extra } }),
  };
  const wording = wordingOf(
    "v3",
    document,
    groupDocument(metadata, new Losses()),
    ["attributes"],
    ["attributes"],
  );
  return wording ? { ...metadata, wording } : metadata;
}

function groupDocument(metadata: GroupMetadata, losses: Losses): JsonObject {
  const document: JsonObject = {
    attributes: metadata.attributes,
    zarr_format: 3,
    node_type: "group",
    ...keptNames(metadata.extra, "v3", losses),
  };
  return restoreSpelling(document, "v3", metadata.wording);
}

function writeNode(
  metadata: NodeMetadata,
  layout: NodeLayout,
  options: WriteOptions = {},
): Map<string, Uint8Array> {
  const [key = ""] = layout.documentKeys;
  const losses = new Losses(options.allowLoss);
  noteNonFinite(metadata.attributes, "/attributes", losses);
  if (
    metadata.kind === "array" &&
    metadata.extra?.zarrFormat === "v3" &&
    metadata.extra.json.storage_transformers
  ) {
    throw refusal(
      "unsupported-operation",
      "/storage_transformers",
      "an array with unknown storage transformers is read-only",
    ).addContext({ format: "v3", path: layout.path, key });
  }
  const document =
    metadata.kind === "array" ? writeV3Array(metadata, losses) : groupDocument(metadata, losses);
  losses.check("v3", layout.path);
  return new Map([[key, v3Bytes(document)]]);
}

/** Formats documents like zarr-python: two spaces, ASCII, names in their own order. */
function v3Bytes(document: JsonObject): Uint8Array {
  return new TextEncoder().encode(writeJson(document, { indent: 2, ascii: true, nonFinite: "null" }));
}

/** Adapts structured types, whose fields have no byte order of their own in v3: mixed orders become little-endian. */
function adoptArray(metadata: ArrayMetadata): ArrayMetadata {
  const { dataType, codecs } = metadata;
  if (!hasFieldOrders(dataType)) return metadata;
  return {
    ...metadata,
    dataType: withoutFieldOrders(dataType),
    codecs: codecs.map((codec) =>
      codec.name === "bytes" ? { name: "bytes", configuration: { endian: "little" } } : codec,
    ),
  };
}

function hasFieldOrders(dataType: DataType): boolean {
  if (dataType.kind !== "struct") return false;
  return dataType.fields.some((field) => field.endian !== undefined || hasFieldOrders(field.dataType));
}

/**
 * Keys of a v3 node. Names are not normalized; one slash at either end of the path is removed.
 *
 * @throws `invalid-node-name` with the rule that a name violates.
 */
export function layoutV3(path: string): NodeLayout {
  const normal = path.replace(/^\//, "").replace(/\/$/, "");
  for (const name of normal === "" ? [] : normal.split("/")) {
    const broken = brokenRule(name);
    if (broken === undefined) continue;
    throw new ZarrflowError("invalid-node-name", `the node name \`${name}\` ${broken}`, {
      format: "v3",
      path,
    });
  }
  return folderLayout("v3", normal, { documents: ["zarr.json"], consolidated: "zarr.json" });
}

function brokenRule(name: string): string | undefined {
  if (name === "") return "is empty";
  if (/^\.+$/.test(name)) return "has only periods";
  if (name.startsWith("__")) return "starts with `__`, which is reserved";
  if (name === "zarr.json") return "is reserved";
  return undefined;
}

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
  if (json === null && offsetSizeOf(codecs) !== undefined) return zeroItem(dataType);
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
  const json = writeFillV3(fillValue.bytes ?? zeroItem(dataType), dataType);
  if (json === undefined && dataType.kind !== "object") losses.add("/fill_value", "text that is not Unicode");
  return json ?? "";
}
