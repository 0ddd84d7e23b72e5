import type { ChunkData, FixedData, VariableData } from "../../codecs/chunk-data.ts";
import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import { carriesConsolidated, consolidatedOf } from "../../hierarchy/consolidated.ts";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { namesMembers } from "../../hierarchy/open/members.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { keysBelow, walkPastBroken } from "../../hierarchy/open/walk.ts";
import { sameDocument } from "../../meta/consolidated.ts";
import {
  FILL_VALUE_ATTRIBUTE,
  hasMissingForm,
  isVariable,
  isVariableIn,
  missingValueOf,
  parseMissing,
  readDouble,
  statedMissing,
} from "../../meta/conventions/missing-values.ts";
import type { DataType } from "../../meta/data-type.ts";
import { zeroItem } from "../../meta/fill-values.ts";
import type { Documents, NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { itemJson } from "../../run/compare-values.ts";
import type { ListableStore } from "../../stores/store.ts";
import type { DecodedChunk, Region } from "../../streams/chunk.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { bytesEqual } from "../../util/bytes.ts";
import { pointerTo } from "../../util/json-value.ts";
import { compareUtf8 } from "../../util/names.ts";
import { ancestorPaths, folderOf, joinKey } from "../../util/node-path.ts";
import { coordsOf, cStrides, product } from "../../util/shape.ts";
import { withChunkSeparators } from "../request/node-findings.ts";
import { faultFinding, type ValidateFinding } from "./finding.ts";

/** The nodes of a hierarchy that can be read. */
export interface ReadNodes {
  readonly nodes: ReadonlyMap<string, ZarrNode>;
  /** Paths of nodes whose documents cannot be read, or do not describe a node. */
  readonly broken: ReadonlySet<string>;
  readonly findings: readonly ValidateFinding[];
}

export interface ReadNodesOptions {
  readonly concurrency: number;
  /** If true, the root was just opened and is not opened again: its documents may be large. */
  readonly isFresh?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Finds `root` and the nodes below it without a listing. */
export async function walkNodes(
  root: ZarrNode,
  { concurrency, signal }: ReadNodesOptions,
): Promise<ReadNodes> {
  const all: ZarrNode[] = [root];
  const broken = new Map<string, ValidateFinding>();
  if (root.kind === "group") {
    for await (const node of walkPastBroken(root, { signal })) {
      if (node.kind !== "broken") all.push(node);
      else broken.set(node.path, faultFinding(node.error, "metadata", node.path));
    }
  }
  const found = await withChunkSeparators(all, { concurrency, signal });
  const nodes = new Map(found.map((node) => [node.path, node]));
  const findings = [...broken.values(), ...[...nodes.values()].flatMap(nodeFindings)];
  return { nodes, broken: new Set(broken.keys()), findings };
}

/** Opens every node at or below `root` that has documents, even if others cannot be read. */
export async function readNodes(
  root: ZarrNode,
  store: ListableStore,
  { concurrency, isFresh = false, signal }: ReadNodesOptions,
): Promise<ReadNodes> {
  const { spec, layout } = root;
  const { hierarchy } = layout;
  const paths = new Set<string>(root.documents.size > 0 ? [root.path] : []);
  const note = (key: string) => {
    const path = hierarchy.nodeOf(key);
    if (path !== undefined) paths.add(path);
  };
  for await (const { key } of keysBelow(store, layout, { onUnreadable: note, signal })) note(key);
  const nodes = new Map<string, ZarrNode>();
  const broken = new Set<string>();
  const findings: ValidateFinding[] = [];
  const isKept = isFresh && root.documents.size > 0 && root.consolidated === undefined;
  const opened = (path: string, { signal }: { signal: AbortSignal }) => {
    if (isKept && path === root.path) return root;
    const { zarrFormat } = layout;
    return openNode(store, path, { ...root.reading, spec, zarrFormat, isInside: true, signal });
  };
  const read = async (path: string, context: { signal: AbortSignal }) => {
    try {
      const node = await opened(path, context);
      if (node) nodes.set(path, node.kind === "array" ? await withChunkSeparator(node, context) : node);
      else findings.push(loneAttributes(formatNamed(layout.zarrFormat).layout(path)));
      if (!node) broken.add(path);
    } catch (error) {
      findings.push(faultFinding(error, "metadata", path));
      broken.add(path);
    }
  };
  await forEachConcurrent(paths, read, { concurrency, signal });
  const sorted = new Map([...nodes].sort(([a], [b]) => compareUtf8(a, b)));
  findings.push(...[...sorted.values()].flatMap(nodeFindings));
  findings.push(...placeFindings(root, sorted, broken));
  if (hierarchy.ignoresCase) findings.push(...siblingFindings([...sorted.keys(), ...broken]));
  return { nodes: sorted, broken, findings: findings.sort((a, b) => compareUtf8(a.path, b.path)) };
}

function loneAttributes({ path, attributesKey }: NodeLayout): ValidateFinding {
  const message = "attributes without a node: there is no array or group here";
  const key = attributesKey && { key: attributesKey };
  return { level: "warning", what: "lone-attributes", path, message, ...key };
}

/** Problems in a node's metadata that did not keep it from being read. */
function nodeFindings(node: ZarrNode): ValidateFinding[] {
  const { path, documents, kind, findings, layout } = node;
  const isImplied = kind === "group" && documents.size === 0;
  if (isImplied && !layout.hierarchy.impliesGroups) return [impliedGroup(path)];
  const read = findings.map(
    ({ message, pointer }): ValidateFinding => ({
      level: "warning",
      what: "metadata",
      path,
      message,
      ...(pointer !== undefined && { pointer }),
    }),
  );
  return [...read, ...missingFindings(node)];
}

function impliedGroup(path: string): ValidateFinding {
  const message = "nodes exist below, but no document makes this a group: some readers will not find them";
  return { level: "warning", what: "implied-group", path, message };
}

/** Reports ancestors that no document makes a group, and nodes inside arrays. */
function* placeFindings(
  root: ZarrNode,
  nodes: ReadonlyMap<string, ZarrNode>,
  broken: ReadonlySet<string>,
): Generator<ValidateFinding> {
  const implied = new Set<string>();
  for (const path of nodes.keys()) {
    for (const ancestor of ancestorsBetween(root as ZarrGroup, path)) {
      const node = nodes.get(ancestor);
      if (node === undefined && !broken.has(ancestor)) implied.add(ancestor);
      if (node?.kind !== "array") continue;
      const message = `is inside the array \`${ancestor}\`, where readers look only for chunks`;
      yield { level: "warning", what: "inside-array", path, message };
    }
  }
  if (root.layout.hierarchy.impliesGroups) return;
  for (const path of implied) yield impliedGroup(path);
}

/** Reports siblings, implied groups included, whose names differ only in case. */
function* siblingFindings(nodes: readonly string[]): Generator<ValidateFinding> {
  const paths = new Set(nodes.flatMap((path) => [...ancestorPaths(path), path]));
  const seen = new Map<string, string>();
  for (const path of paths) {
    const other = seen.get(path.toLowerCase());
    seen.set(path.toLowerCase(), path);
    if (other === undefined) continue;
    const message = `differs from \`${other}\` only in case: one of them should not exist`;
    yield { level: "error", what: "sibling-names", path, message };
  }
}

/** The paths above `path`, from `root` down. */
function ancestorsBetween(root: ZarrNode, path: string): string[] {
  if (path === root.path) return [];
  const names = path.slice(joinKey(root.path, "").length).split("/").slice(0, -1);
  return [root.path, ...names.map((_, i) => joinKey(root.path, names.slice(0, i + 1).join("/")))];
}

/** Checks the consolidated metadata of groups against the documents of their nodes. */
export async function* consolidatedFindings(
  root: ZarrNode,
  { nodes, broken }: ReadNodes,
  signal: AbortSignal | undefined,
): AsyncGenerator<ValidateFinding> {
  for (const node of nodes.values()) {
    if (node.kind === "array") continue;
    let consolidated: Documents | undefined;
    try {
      consolidated = await consolidatedOf(node, { signal });
    } catch (error) {
      yield faultFinding(error, "stale-consolidated", node.path);
      continue;
    }
    if (consolidated) yield* staleFindings(node, consolidated, { nodes, broken });
    else if (node === root && nodes.size > 1 && !root.layout.hierarchy.impliesGroups)
      yield notConsolidated(node);
  }
}

function notConsolidated(group: ZarrGroup): ValidateFinding {
  const { path } = group;
  const message = namesMembers(group)
    ? "no consolidated metadata: if keys cannot be listed, as over HTTP, readers find only nodes that OME-Zarr metadata names"
    : "no consolidated metadata: if keys cannot be listed, as over HTTP, readers find no nodes";
  return { level: "info", what: "no-consolidated", path, message };
}

function* staleFindings(
  { path, layout }: ZarrGroup,
  consolidated: Documents,
  { nodes, broken }: Pick<ReadNodes, "nodes" | "broken">,
): Generator<ValidateFinding> {
  const prefix = joinKey(path, "");
  const actual = new Map<string, Uint8Array>();
  for (const node of nodes.values()) {
    const isOwn = node.path === path;
    if (isOwn ? carriesConsolidated(layout) : !node.path.startsWith(prefix)) continue;
    for (const [key, bytes] of node.documents) actual.set(key, bytes);
  }
  const isBroken = (key: string) => broken.has(folderOf(key));
  const lacking = [...actual.keys()].filter((key) => !consolidated.has(key));
  const gone = [...consolidated.keys()].filter((key) => !actual.has(key) && !isBroken(key));
  const other = [...actual].filter(([key, bytes]) => {
    const copy = consolidated.get(key);
    return copy !== undefined && !sameDocument(copy, bytes);
  });
  yield* stale(path, lacking, "the consolidated metadata does not list it");
  yield* stale(path, gone, "the consolidated metadata lists a document that does not exist");
  yield* stale(
    path,
    other.map(([key]) => key),
    "the consolidated metadata differs from the document",
  );
}

function* stale(
  path: string,
  [key, ...more]: readonly string[],
  message: string,
): Generator<ValidateFinding> {
  if (key === undefined) return;
  const count = more.length > 0 && { count: more.length + 1 };
  yield { level: "error", what: "stale-consolidated", path, message, key, ...count };
}

const POINTER = pointerTo("/attributes", FILL_VALUE_ATTRIBUTE);

/** Reports problems that a node's missing value causes in readers of CF conventions, such as xarray. */
export function missingFindings(node: ZarrNode): ValidateFinding[] {
  if (node.kind !== "array") return [];
  return [unreadable(node), contradicted(node), zeroIsMissing(node)].filter(
    (finding) => finding !== undefined,
  );
}

/**
 * Reports a v3 attribute `_FillValue` in a form that xarray cannot read, which keeps it from opening the whole group.
 */
function unreadable({ metadata, layout, path }: ZarrArray): ValidateFinding | undefined {
  const { attributes, dataType } = metadata;
  const stated = statedMissing(attributes);
  if (layout.zarrFormat !== "v3" || stated === undefined || !isVariableIn(metadata, "v3")) return undefined;
  const isFloat = dataType.kind === "float" || dataType.kind === "complex";
  const isList = Array.isArray(stated);
  const isDoubles = [stated].flat().every((part) => readDouble(part) !== undefined);
  const isOfForm = isFloat ? isDoubles : hasMissingForm(dataType) && parseMissing(stated, dataType);
  if (isOfForm && isList === (dataType.kind === "complex")) return undefined;
  const form = isFloat ? ": it must be the Base64 of a little-endian double" : "";
  const message = `xarray cannot read a missing value of this data type, so it cannot open the group${form}`;
  return { level: "warning", what: "missing-value", path, message, pointer: POINTER };
}

/**
 * Reports a v2 array whose fill value and attribute state different missing values, which readers treat differently.
 */
function contradicted({ metadata, layout, path }: ZarrArray): ValidateFinding | undefined {
  const { attributes, dataType, fillValue } = metadata;
  const stated = statedMissing(attributes);
  if (layout.zarrFormat !== "v2" || !isVariable(metadata) || !fillValue.bytes || stated === undefined)
    return undefined;
  const bytes = parseMissing(stated, dataType);
  if (bytes && bytesEqual(bytes, fillValue.bytes)) return undefined;
  const message = `xarray treats the fill value ${itemJson(fillValue.bytes, dataType)} as missing, and ignores this value`;
  return { level: "warning", what: "missing-value", path, message, pointer: POINTER };
}

/** Reports a v2 array whose fill value is 0, false or an empty text, a common default: xarray masks every such item. */
function zeroIsMissing(array: ZarrArray): ValidateFinding | undefined {
  if (!takesZeroForMissing(array)) return undefined;
  const { attributes, dataType } = array.metadata;
  const isPacked = Object.hasOwn(attributes, "scale_factor") || Object.hasOwn(attributes, "add_offset");
  return {
    level: isPacked ? "warning" : "info",
    what: "missing-value",
    path: array.path,
    message: `readers of the CF conventions treat every stored ${zeroText(dataType)} as missing${isPacked ? ", a common value of packed data" : ""}: it is the fill value`,
    pointer: "/fill_value",
  };
}

function zeroText(dataType: DataType): string {
  return dataType.kind === "complex" ? "0" : itemJson(zeroItem(dataType), dataType);
}

/** True if CF readers treat every 0 of an array as missing, although no attribute states so. */
function takesZeroForMissing({ metadata, layout }: ZarrArray): boolean {
  const { attributes } = metadata;
  if (layout.zarrFormat !== "v2") return false;
  const isStated = ["missing_value", FILL_VALUE_ATTRIBUTE].some((name) => Object.hasOwn(attributes, name));
  const missing = missingValueOf(metadata, "v2");
  return !isStated && missing !== undefined && missing.every((byte) => byte === 0);
}

/** Finds zeros in decoded chunks that CF readers treat as missing; reports one finding per array. */
export class StoredZeros {
  readonly #found = new Set<string>();

  /** The finding for a chunk of `array` with this key, if any. */
  look(array: ZarrArray, key: string, { data, region }: DecodedChunk): ValidateFinding | undefined {
    if (data === undefined || this.#found.has(array.path) || !takesZeroForMissing(array)) return undefined;
    // Unsigned bytes are skipped: masks consist of 0 and 1.
    const { dataType } = array.metadata;
    if (dataType.kind === "uint" && dataType.size === 1) return undefined;
    if (!holdsZero(data, region)) return undefined;
    this.#found.add(array.path);
    const message = `holds ${zeroText(dataType)}, which readers of the CF conventions treat as missing: it is the fill value`;
    return { level: "warning", what: "missing-value", path: array.path, message, key };
  }
}

/** True if any item of the array in a chunk is all zero bytes, or empty. */
function holdsZero(data: ChunkData, region: Region): boolean {
  const { shape } = data;
  const isZero = data.kind === "fixed" ? zeroBytesOf(data) : emptyItemOf(data);
  if (region.shape.every((n, d) => n === shape[d])) {
    const items = product(shape);
    for (let item = 0; item < items; item++) if (isZero(item)) return true;
    return false;
  }
  const strides = data.kind === "fixed" ? data.strides : cStrides(shape);
  for (const coords of coordsOf(region.shape)) {
    if (isZero(coords.reduce((sum, at, d) => sum + at * (strides[d] ?? 0), 0))) return true;
  }
  return false;
}

function zeroBytesOf({ bytes, itemSize }: FixedData): (item: number) => boolean {
  return (item) => {
    const end = (item + 1) * itemSize;
    for (let at = item * itemSize; at < end; at++) if (bytes[at] !== 0) return false;
    return true;
  };
}

function emptyItemOf({ offsets }: VariableData): (item: number) => boolean {
  return (item) => offsets[item] === offsets[item + 1];
}
