import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import { keysBelow } from "../../hierarchy/keys-below.ts";
import type { ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { walkPastBroken } from "../../hierarchy/open/walk.ts";
import type { NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { ListableStore } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { compareUtf8 } from "../../util/names.ts";
import { ancestorPaths, joinKey } from "../../util/node-path.ts";
import { withChunkSeparators } from "../request/chunk-separators.ts";
import { faultFinding, type ValidateFinding } from "./finding.ts";
import { missingFindings } from "./missing-values.ts";

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
  const message = "nodes exist below, but no document makes this a group: some readers do not find them";
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
      const message = `is inside the array \`${ancestor}\`, where readers look for chunks only`;
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
