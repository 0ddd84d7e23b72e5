import type { JsonObject } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import { normalizePath } from "../../util/node-path.ts";
import type { ArrayMetadata, CodecConfig, GroupMetadata, NodeMetadata } from "../array-metadata.ts";
import { inDocument, Losses, noteNonFinite, parseDocument } from "../documents.ts";
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
import { withoutShards } from "../shards.ts";
import { inMemoryOrder } from "../v2/codecs.ts";
import { takeDimensionNames, withDimensionNames } from "../v2/v2.ts";
import { parseV1Array, type V1Order, writeV1Array } from "./array.ts";

/** Zarr v1: an array is `meta`, with attributes in `attrs`, including dimension names. There are no groups. */
export function v1Format(order: V1Order = "as-written"): FormatDefinition {
  return {
    name: "v1",
    layout: layoutV1,
    parse: (documents, layout, limits) => parseNode(documents, layout, order, limits),
    write: (metadata, layout, options) => writeNode(metadata, layout, order, options),
    adopt: (metadata) => adoptArray(inMemoryOrder(withoutShards(metadata))),
  };
}

function parseNode(
  documents: Documents,
  layout: NodeLayout,
  order: V1Order,
  limits?: DocumentLimits,
): ParsedNode | undefined {
  const findings: Finding[] = [];
  const read = <T>(key: string, parse: (document: JsonObject) => T): T | undefined => {
    const bytes = documents.get(key);
    return bytes && inDocument(layout, key, () => parse(parseDocument(bytes, findings, () => true, limits)));
  };
  const [attributesKey = "", metaKey = ""] = layout.documentKeys;
  const array = read(metaKey, (document) => parseV1Array(document, order));
  if (array === undefined) return undefined;
  const attributes = read(attributesKey, (document) => document) ?? {};
  const named = takeDimensionNames(attributes, array.shape.length, findings);
  return { metadata: { kind: "array", ...array, ...named }, findings };
}

function writeNode(
  metadata: NodeMetadata,
  layout: NodeLayout,
  order: V1Order,
  { allowLoss }: WriteOptions = {},
): Map<string, Uint8Array> {
  const losses = new Losses(allowLoss);
  const documents = new Map<string, Uint8Array>();
  if (metadata.kind === "group") noteGroup(metadata, losses);
  else {
    const attributes = withDimensionNames(metadata, losses);
    noteNonFinite(attributes, "/attributes", losses);
    const [attributesKey = "", metaKey = ""] = layout.documentKeys;
    documents.set(attributesKey, toBytes(attributes, "null"));
    documents.set(metaKey, toBytes(writeV1Array(metadata, order, losses), "token"));
  }
  losses.check("v1", layout.path);
  return documents;
}

/** Reports the loss of a group, because v1 has no document for it. */
function noteGroup({ attributes }: GroupMetadata, losses: Losses): void {
  losses.add("/node_type", "a group");
  if (Object.keys(attributes).length > 0) losses.add("/attributes", "attributes of a group");
}

/** Formats documents like the original writer: sorted names, four spaces, ASCII. */
function toBytes(document: JsonObject, nonFinite: "null" | "token"): Uint8Array {
  const text = writeJson(document, { indent: 4, sortNames: true, ascii: true, nonFinite });
  return new TextEncoder().encode(text);
}

/**
 * Adapts the codecs for new chunks: C order unless blosc encodes them, and compression in the form that we write, not
 * the old one.
 */
function adoptArray(metadata: ArrayMetadata): ArrayMetadata {
  const isBlosc = metadata.codecs.some(({ name }) => name === "blosc");
  const codecs = metadata.codecs
    .filter(({ name }) => name !== "transpose" || isBlosc)
    .map((codec) => (codec.stated?.zarrFormat === "v1" ? anew(codec) : codec));
  return { ...metadata, codecs };
}

function anew({ name, configuration }: CodecConfig): CodecConfig {
  return { name: name === "v1.gzip" ? "zlib" : name, configuration };
}

/**
 * Keys of a v1 array: two documents and the chunks in one folder. The format has one array per location; a path is
 * the folder of such an array in a store.
 *
 * @throws `path-not-allowed` for a segment `.` or `..`.
 */
export function layoutV1(path: string): NodeLayout {
  return folderLayout("v1", normalizePath(path), { documents: ["attrs", "meta"], attributes: "attrs" });
}
