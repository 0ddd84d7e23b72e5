import { ZarrflowError } from "../../util/errors.ts";
import type { JsonObject } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import type { ArrayMetadata, GroupMetadata, NodeMetadata } from "../array-metadata.ts";
import { assertWord, integerOf, invalidMetadata, refusal, required, tokenOf } from "../assert-json.ts";
import { type DataType, withoutFieldOrders } from "../data-type.ts";
import {
  attributesOf,
  inDocument,
  keptNames,
  noteNonFinite,
  otherNames,
  parseDocument,
} from "../documents.ts";
import { assertMayBeIgnored } from "../extension.ts";
import type {
  DocumentLimits,
  Documents,
  Finding,
  FormatDefinition,
  NodeLayout,
  ParsedNode,
  WriteOptions,
} from "../format.ts";
import { Losses } from "../losses.ts";
import { folderLayout } from "../node-layout.ts";
import { restoreSpelling, wordingOf } from "../round-trip.ts";
import { parseV3Array, writeV3Array } from "./array.ts";
import { CUT_V3, noteConsolidatedKind, readConsolidatedV3 } from "./consolidated.ts";

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
    assertFormat3(document);
    const type = assertWord(required(document, "node_type"), ["array", "group"], "/node_type");
    const metadata = type === "array" ? parseV3Array(document, findings) : parseGroup(document, findings);
    return { metadata, findings };
  });
}

function assertFormat3(document: JsonObject): void {
  const format = required(document, "zarr_format");
  if (integerOf(format) === 3n) return;
  if (typeof format === "string" && /^https?:/.test(format)) {
    throw refusal("unsupported-format", "/zarr_format", "a draft of Zarr v3, not Zarr v3", format);
  }
  if (tokenOf(format) === undefined) throw invalidMetadata("/zarr_format", "must be the number 3", format);
  throw refusal("unsupported-format", "/zarr_format", "not the number 3", format);
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
