import type { ArrayMetadata, NodeMetadata, ZarrFormat } from "../meta/array-metadata.ts";
import type { FormatDefinition, NodeLayout } from "../meta/format.ts";
import { parseJson } from "../util/json-parse.ts";
import { jsonEqual } from "../util/json-value.ts";
import { isAtOrBelow } from "../util/node-path.ts";
import type { PlannedDocument } from "./plan.ts";
import type { HierarchyPlanRequest, SourceNode } from "./request.ts";

/** A request to plan the documents of a node. */
export interface DocumentsRequest extends HierarchyPlanRequest {
  /** Layout of the node in the target. */
  readonly layout: NodeLayout;
  /** True if any change of the node was requested besides the format. */
  readonly isChanged: boolean;
}

/** The documents of a node, and its place in the publishing order. */
export interface NodeDocuments {
  readonly depth: number;
  readonly group: boolean;
  readonly documents: readonly PlannedDocument[];
}

/** Plans the documents of a node whose new metadata is `metadata`: its existing documents, or new ones. */
export function plannedDocuments(
  node: SourceNode,
  metadata: NodeMetadata,
  request: DocumentsRequest,
): readonly PlannedDocument[] {
  const { layout, isChanged, zarrFormat } = request;
  const mayBeKept = !isChanged && node.layout.zarrFormat === zarrFormat.name && !needsSeparator(node);
  const isKept = mayBeKept && (request.operation === "copy" || !isEmpty(node));
  return isKept ? kept(node, layout, request) : written(node, metadata, request, layout);
}

/** True if a copy of an array must state its chunk key separator, because its reader was given it or detected it. */
export function needsSeparator({ metadata, reading }: Pick<SourceNode, "metadata" | "reading">): boolean {
  return metadata.kind === "array" && reading?.v2?.separator === "/";
}

/** True if an array has no items. Its document may state chunks of length 0, which are written as 1. */
function isEmpty({ metadata }: SourceNode): boolean {
  return metadata.kind === "array" && metadata.shape.includes(0);
}

/** The existing documents of a node, copied to the target's keys. */
function copied(node: SourceNode, layout: NodeLayout): { readonly key: string; readonly from: string }[] {
  return node.layout.documentKeys.flatMap((from, i) => {
    const key = layout.documentKeys[i];
    return node.documents.has(from) && key !== undefined ? [{ key, from }] : [];
  });
}

/** Plans the existing documents of a node; none if they exist only in consolidated metadata that are copied. */
function kept(
  node: SourceNode,
  layout: NodeLayout,
  { copyKeys, changed, consolidated }: HierarchyPlanRequest,
): readonly PlannedDocument[] {
  if (node.consolidated === undefined) return copied(node, layout);
  if (copyKeys && !changed && consolidated.some((group) => isAtOrBelow(node.path, group))) return [];
  const decoder = new TextDecoder();
  return copied(node, layout).map(({ key, from }) => ({
    key,
    text: decoder.decode(node.documents.get(from)),
  }));
}

/** Plans new documents. A document with the same content as the source's is copied byte for byte instead. */
function written(
  node: SourceNode,
  metadata: NodeMetadata,
  { zarrFormat, allowLoss }: HierarchyPlanRequest,
  layout: NodeLayout,
): PlannedDocument[] {
  const decoder = new TextDecoder();
  const mayBeSame = node.consolidated === undefined && node.layout.zarrFormat === layout.zarrFormat;
  const before = mayBeSame ? copied(node, layout) : [];
  const kept = keepsAttributes(node, metadata);
  const attributes = before.filter(({ key }) => kept && key === layout.attributesKey);
  const rest = attributes.length > 0 ? withoutAttributes(metadata) : metadata;
  const isWritten = ([key]: readonly [string, Uint8Array]) =>
    !attributes.some((copied) => copied.key === key);
  const documents = [...zarrFormat.write(rest, layout, { allowLoss })]
    .filter(isWritten)
    .map(([key, bytes]) => {
      const same = before.find((document) => document.key === key);
      const old = same && node.documents.get(same.from);
      return same && old && sameDocument(old, bytes) ? same : { key, text: decoder.decode(bytes) };
    });
  return [...attributes, ...documents];
}

/** True if the attributes are unchanged, so that their document can be copied whatever it contains. */
function keepsAttributes(node: SourceNode, metadata: NodeMetadata): boolean {
  return (
    metadata.attributes === node.metadata.attributes &&
    dimensionNamesOf(metadata) === dimensionNamesOf(node.metadata)
  );
}

function dimensionNamesOf(metadata: NodeMetadata): ArrayMetadata["dimensionNames"] {
  return metadata.kind === "array" ? metadata.dimensionNames : undefined;
}

function withoutAttributes(metadata: NodeMetadata): NodeMetadata {
  if (metadata.kind === "group") return { ...metadata, attributes: {} };
  const { dimensionNames: _, ...rest } = metadata;
  return { ...rest, attributes: {} };
}

function sameDocument(a: Uint8Array, b: Uint8Array): boolean {
  const parse = (bytes: Uint8Array) => parseJson(bytes, { allowNonFinite: () => true });
  return jsonEqual(parse(a), parse(b));
}

/**
 * Sorts documents: arrays first, then groups from the deepest up, so that parents are published after their
 * children.
 */
export function inPublishingOrder(nodes: readonly NodeDocuments[]): PlannedDocument[] {
  return [...nodes]
    .sort((a, b) => Number(a.group) - Number(b.group) || b.depth - a.depth)
    .flatMap(({ documents }) => documents);
}
export function depthOf(path: string): number {
  return path === "" ? 0 : path.split("/").length;
}

/** Documents that all nodes of a target share. They are copied if the source has the same format. */
export function sharedDocuments(
  from: ZarrFormat,
  { name, writeShared }: FormatDefinition,
): PlannedDocument[] {
  const written = [...(writeShared?.() ?? [])];
  return from === name ? written.map(([key]) => ({ key, from: key })) : written.map(asText);
}

/** Documents of the groups above a target, in formats that need them. */
export function missingAncestors(path: string, zarrFormat: FormatDefinition): PlannedDocument[] {
  if (path === "" || zarrFormat.layout(path).hierarchy.impliesGroups) return [];
  const names = path.split("/").slice(0, -1);
  const paths = ["", ...names.map((_, i) => names.slice(0, i + 1).join("/"))].reverse();
  return paths.flatMap((ancestor) => [...writeAncestor(zarrFormat, ancestor)].map(asText));
}

/** Writes the documents of a group that exists only as a parent; none in a format without groups. */
function writeAncestor({ write, layout }: FormatDefinition, path: string): ReadonlyMap<string, Uint8Array> {
  return write({ kind: "group", attributes: {} }, layout(path), { allowLoss: ["/node_type"] });
}

function asText([key, bytes]: readonly [string, Uint8Array]): PlannedDocument {
  return { key, text: new TextDecoder().decode(bytes) };
}
