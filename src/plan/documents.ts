import type { ArrayMetadata, NodeMetadata, ZarrFormat } from "../meta/array-metadata.ts";
import { member } from "../meta/assert-json.ts";
import { consolidate } from "../meta/consolidated.ts";
import type { ConventionNode } from "../meta/conventions/convention.ts";
import { convertConventions } from "../meta/conventions/conventions.ts";
import type { FormatDefinition, NodeLayout } from "../meta/format.ts";
import { formatNamed } from "../meta/formats.ts";
import { isZarrflowError } from "../util/errors.ts";
import { parseJson } from "../util/json-parse.ts";
import { type JsonObject, jsonEqual } from "../util/json-value.ts";
import { belowPath, folderOf, isAtOrBelow } from "../util/node-path.ts";
import type { NodeWarning, Plan, PlannedDocument } from "./plan.ts";
import { type HierarchyPlanRequest, type SourceNode, targetPath } from "./request.ts";

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

/**
 * Documents of other formats: a group that was migrated in place has documents of v2 and v3 for the same chunks. A
 * flow reads and writes one format. Documents of the other stay if nothing changes; otherwise they are left out, or
 * rewritten on request.
 */

const LEFT_OUT = "documents of another format are dropped because they would not describe the new chunks";

/** Warning of a flow that leaves out documents of other formats. */
export const otherFormatsLeftOut: NodeWarning = {
  message: LEFT_OUT,
  hint: "Use --keep-formats (in code keepFormats) to rewrite them.",
};

/**
 * As `otherFormatsLeftOut`, for documents at `keys`; undefined if there are none or the plan contains the warning
 * already.
 */
export function otherFormatsWarning(
  plan: Plan,
  keys: readonly string[],
): (NodeWarning & { readonly key: string }) | undefined {
  const [key] = keys;
  const hasWarned = plan.warnings.some(({ message }) => message === LEFT_OUT);
  return key === undefined || hasWarned ? undefined : { ...otherFormatsLeftOut, key };
}

/** A node of the target and its source. */
export interface PlacedNode {
  /** Path in the source, and in the target. */
  readonly from: string;
  readonly path: string;
  readonly metadata: NodeMetadata;
}

/**
 * Writes documents of another format for nodes of the target, by path in the target.
 *
 * @throws `loss-refused` for information that this format cannot represent.
 */
export function documentsOfOtherFormat(
  nodes: readonly PlacedNode[],
  { keptFormat, zarrFormat, source, target, nodes: sources, allowLoss }: HierarchyPlanRequest,
): ReadonlyMap<string, readonly PlannedDocument[]> {
  if (keptFormat === undefined) return new Map();
  const { write, layout } = formatNamed(keptFormat.name);
  const placed = nodes.filter(({ from }) => keptFormat.nodes.has(from));
  const inOther = (all: readonly (ConventionNode & { readonly root: string })[]) =>
    convertConventions(
      all.map(({ root, path, metadata }) => ({ path: belowPath(root, path), metadata })),
      { from: zarrFormat.name, to: keptFormat.name },
    ).nodes;
  const metadataOf = new Map(sources.map(({ path, metadata }) => [path, metadata]));
  const converted = inOther(placed.map((node) => ({ ...node, root: target.path })));
  const before = inOther(
    placed.map(({ from, metadata }) => {
      return { root: source.path, path: from, metadata: metadataOf.get(from) ?? metadata };
    }),
  );
  let documents = new Map<string, Uint8Array>();
  try {
    for (const [i, { from, path, metadata }] of placed.entries()) {
      const now = converted[i]?.metadata ?? metadata;
      const attributes = ownAttributes(
        keptFormat.nodes.get(from) ?? {},
        before[i]?.metadata.attributes ?? {},
        now.attributes,
      );
      const written = write({ ...now, attributes }, layout(path), { allowLoss });
      for (const [key, bytes] of written) documents.set(key, bytes);
    }
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    throw error.addContext({
      hint: "Omit --keep-formats (in code keepFormats) to drop these documents.",
    });
  }
  const groups = [...keptFormat.consolidated].sort().reverse();
  for (const group of groups) {
    documents = consolidate(keptFormat.name, targetPath(group, source.path, target.path), documents);
  }
  const byPath = new Map<string, PlannedDocument[]>();
  for (const [key, bytes] of documents) {
    const path = folderOf(key);
    byPath.set(path, [...(byPath.get(path) ?? []), { key, text: new TextDecoder().decode(bytes) }]);
  }
  return byPath;
}

/**
 * Merges the attributes in a node's documents of another format with the changes of the flow. Attributes that the
 * flow does not change keep the value stated there.
 */
function ownAttributes(own: JsonObject, before: JsonObject, now: JsonObject): JsonObject {
  const isOwn = (name: string) => jsonEqual(member(before, name) ?? null, member(now, name) ?? null);
  return { ...now, ...Object.fromEntries(Object.entries(own).filter(([name]) => isOwn(name))) };
}
