import { type JsonObject, type JsonPath, type JsonValue, pointerTo } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import { normalizePath } from "../../util/node-path.ts";
import { takeDimensionNames, withDimensionNames } from "../array-dimensions.ts";
import type { ArrayMetadata, GroupMetadata, NodeMetadata } from "../array-metadata.ts";
import { readConsolidatedV2 } from "../consolidated.ts";
import { isNcZarr, withShuffledItems } from "../conventions/nczarr-shuffle.ts";
import { inDocument, keptNames, noteNonFinite, otherNames, parseDocument } from "../documents.ts";
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
import { inMemoryOrder } from "../memory-order.ts";
import { folderLayout } from "../node-layout.ts";
import { withoutShards } from "../reshard.ts";
import { assertFormat2, parseZarray, writeZarray } from "./array.ts";

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
  assertFormat2(document);
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
