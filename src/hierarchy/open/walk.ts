import type { Documents, NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { outerPrefixes } from "../../meta/node-layout.ts";
import {
  isListable,
  type KeyEntry,
  type ListableStore,
  type ListOptions,
  type StoreOptions,
} from "../../stores/store.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { BlockingIo } from "../../util/blocking-io.ts";
import { isZarrflowError, type ZarrflowError } from "../../util/errors.ts";
import { compareUtf8 } from "../../util/names.ts";
import { joinKey } from "../../util/node-path.ts";
import { checkedOptions, type OptionNames } from "../../util/options.ts";
import { carriesConsolidated, consolidatedOf } from "../consolidated.ts";
import { assertGroup, type NodeParts, ZarrGroup, type ZarrNode } from "../node.ts";
import { inOtherFormat } from "../other-format.ts";
import type { StoredDocument, StoredDocuments } from "../stored-documents.ts";
import { nodeIn } from "./in-any-format.ts";
import { childNames, consolidatedAbove, type Members, namedMembers, namesMembers } from "./members.ts";
import { closeOpened, OPEN_OPTIONS, type OpenOptions, type OpenSource, openGroup } from "./open.ts";
import { openNode } from "./open-node.ts";

export interface WalkOptions {
  /** Returns true for paths to skip, together with everything below them. */
  readonly isLeftOut?: ((path: string) => boolean) | undefined;
  /** Called with the path of each skipped node that has documents. */
  readonly onLeftOut?: ((path: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const WALK_OPTIONS: OptionNames<WalkOptions> = {
  isLeftOut: true,
  onLeftOut: true,
  signal: true,
};

/** Number of nodes that are opened in advance. */
const AHEAD = 16;

/**
 * Iterates over all nodes below a group, in its format: parents before children, siblings sorted. A path without
 * documents that has nodes below it is an implied group, with no documents and a finding. If the store cannot list, or
 * if consolidated metadata are the only copy of the documents, these list the nodes. Without listing, the consolidated
 * metadata of a group above and the metadata of OME-Zarr images and plates are used too.
 *
 * @throws `unsupported-operation` if the store cannot list and no metadata name the members of a group.
 */
export function walk(source: OpenSource, options: OpenOptions & WalkOptions = {}): AsyncGenerator<ZarrNode> {
  return nodesOfSource(source, Number.POSITIVE_INFINITY, options);
}

/** Opens a group, iterates over its nodes and closes everything that was opened. */
async function* nodesOfSource(
  source: OpenSource,
  levels: number,
  given: OpenOptions & WalkOptions,
): AsyncGenerator<ZarrNode> {
  const { isLeftOut, onLeftOut, ...opening } = checkedOptions(given, { ...OPEN_OPTIONS, ...WALK_OPTIONS });
  const group = await openGroup(source, opening);
  try {
    const { signal } = opening;
    for await (const node of nodesOf(group, levels, { isLeftOut, onLeftOut, signal })) {
      if (node.kind === "broken") throw node.error;
      yield node;
    }
  } finally {
    await closeOpened(source, group.store);
  }
}

/** A node that cannot be read: its documents are damaged or not supported. */
export interface BrokenNode {
  readonly kind: "broken";
  readonly path: string;
  readonly error: ZarrflowError;
}

/**
 * As `walk`, but a node that cannot be read is reported as broken, without its descendants, and the walk continues.
 *
 * @throws as `walk`, except errors of single nodes.
 */
export function walkPastBroken(
  group: ZarrGroup,
  options: WalkOptions = {},
): AsyncGenerator<ZarrNode | BrokenNode> {
  return nodesOf(group, Number.POSITIVE_INFINITY, options);
}

/**
 * Iterates over the members of a group: the nodes one level below it, sorted. Chunks of arrays are not read.
 *
 * @throws as `walk`
 * @example
 * ```ts
 * import { children } from "zarrflow";
 *
 * for await (const { kind, path } of children("era5.zarr")) console.log(kind, path);
 * ```
 */
export function children(
  source: OpenSource,
  options: OpenOptions & WalkOptions = {},
): AsyncGenerator<ZarrNode> {
  return nodesOfSource(source, 1, options);
}

/** Iterates over the given number of levels below a group. */
async function* nodesOf(
  group: ZarrGroup,
  levels: number,
  given: WalkOptions,
): AsyncGenerator<ZarrNode | BrokenNode> {
  const options = checkedOptions(given, WALK_OPTIONS);
  const { signal } = options;
  assertGroup(group);
  const { store, layout } = group;
  const mayTell = carriesConsolidated(layout) || !isListable(store);
  const read = new Map<string, StoredDocument>();
  const stored = group.consolidated ? group.stored : read;
  const reading = { stored: read, signal };
  const consolidated =
    group.consolidated ??
    (mayTell ? await consolidatedOf(group, reading) : undefined) ??
    (isListable(store) || namesMembers(group) ? undefined : await consolidatedAbove(group, reading));
  const isInstead = consolidated && (!isListable(store) || (await isOnlyCopy(group, consolidated, signal)));
  if (isInstead) yield* nodesBelow(group, consolidated, { stored, levels, options });
  else yield* nodesOfMembers(group, { levels, named: undefined, options, blocking: new BlockingIo() });
}

interface Descent {
  readonly levels: number;
  /** Paths below the group that a group above it names; undefined for the group at which the walk started. */
  readonly named: readonly string[] | undefined;
  readonly options: WalkOptions;
  readonly blocking: BlockingIo;
}

interface MembersFound {
  readonly members: Members;
  /** Members that cannot be read, neither as files nor as folders. */
  readonly broken: readonly BrokenNode[];
}

async function membersOf(group: ZarrGroup, { named, options }: Descent): Promise<MembersFound> {
  const { store, layout } = group;
  const { isLeftOut, signal } = options;
  if (!isListable(store)) return { members: await namedMembers(group, named, signal), broken: [] };
  const broken: BrokenNode[] = [];
  const onUnreadable = (entry: string, error: ZarrflowError) => {
    const name = layout.memberName(entry) ?? layout.memberName(`${entry}/`);
    if (name === undefined) throw error;
    const path = joinKey(group.path, name);
    if (!isLeftOut?.(path)) broken.push(brokenNode(path, error));
  };
  const names = await childNames(store, layout, { signal, onUnreadable });
  return { members: new Map(names.map((name) => [name, []])), broken };
}

/** Returns true if the store contains none of the documents below the group. */
async function isOnlyCopy(
  { store, consolidated }: ZarrGroup,
  documents: Documents,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (consolidated !== undefined) return true;
  for (const key of documents.keys()) {
    if ((await store.size(key, { signal })) !== undefined) return false;
  }
  return documents.size > 0;
}

interface ReadSoFar {
  /** The documents that list the nodes, as they were read. */
  readonly stored: StoredDocuments;
  readonly levels: number;
  readonly options: WalkOptions;
}

/** Iterates over the nodes that `documents` describe below the group, and the groups that they imply. */
function* nodesBelow(
  { store, spec, layout, path, reading }: ZarrGroup,
  documents: Documents,
  { stored, levels, options: { isLeftOut, onLeftOut } }: ReadSoFar,
): Generator<ZarrNode | BrokenNode> {
  const { zarrFormat } = layout;
  for (const below of pathsBelow(documents, path, levels)) {
    if (isLeftOut?.(below)) {
      onLeftOut?.(below);
      continue;
    }
    const known = { consolidated: documents, stored };
    const implied = impliedGroup(below, { store, spec, layout, reading }, known);
    const options = { ...reading, spec, zarrFormat, areConsolidated: true, stored };
    if (implied === undefined) continue;
    try {
      yield nodeIn(documents, store, below, options) ?? implied;
    } catch (error) {
      yield brokenNode(below, error);
    }
  }
}

/**
 * Iterates over paths of nodes with documents, within the given levels below a path, and of the groups that contain
 * them, parents first.
 */
function* pathsBelow(documents: Documents, path: string, levels: number): Generator<string> {
  const prefix = joinKey(path, "");
  const folders = [...documents.keys()]
    .filter((key) => key.startsWith(prefix) && key.includes("/", prefix.length))
    .map((key) => key.slice(prefix.length, key.lastIndexOf("/")));
  let before: readonly string[] = [];
  for (const folder of folders.sort(comparePaths)) {
    const names = folder.split("/").slice(0, levels);
    const known = names.findIndex((name, i) => name !== before[i]);
    for (let i = known < 0 ? names.length : known; i < names.length; i++) {
      yield prefix + names.slice(0, i + 1).join("/");
    }
    before = names;
  }
}

/** Orders parents before children, and sorts siblings. */
function comparePaths(a: string, b: string): number {
  const [x, y] = [a.split("/"), b.split("/")];
  const at = x.findIndex((name, i) => name !== y[i]);
  return at < 0 ? x.length - y.length : compareUtf8(x[at] ?? "", y[at] ?? "");
}

async function* nodesOfMembers(group: ZarrGroup, descent: Descent): AsyncGenerator<ZarrNode | BrokenNode> {
  const { levels, options, blocking } = descent;
  if (levels < 1) return;
  const { members: found, broken } = await membersOf(group, descent);
  const members = [...found];
  yield* broken;
  for (let start = 0; start < members.length; start += AHEAD) {
    const others = blocking.yield();
    if (others) {
      await others;
      throwIfAborted(options.signal);
    }
    const children = members
      .slice(start, start + AHEAD)
      .map(async ([name, named]) => ({ named, ...(await openChild(group, name, { ...options, blocking })) }));
    for (const { node, implied, named } of await Promise.all(children)) {
      const below = { levels: levels - 1, named, options, blocking };
      if (node) yield node;
      if (node?.kind === "group") yield* nodesOfMembers(node, below);
      if (implied) yield* withNodes(implied, below);
    }
  }
}

interface Child {
  readonly node?: ZarrNode | BrokenNode;
  /** The implied group, if it has no documents of its own. Its descendants decide if it exists. */
  readonly implied?: ZarrGroup;
}

/** Opens one folder of a group. The result is empty if its name is not valid in the format. */
async function openChild(
  group: ZarrGroup,
  name: string,
  { isLeftOut, onLeftOut, blocking, signal }: WalkOptions & Pick<Descent, "blocking">,
): Promise<Child> {
  const { store, spec, layout, reading } = group;
  const implied = impliedGroup(joinKey(group.path, name), group);
  if (implied === undefined) return {};
  if (isLeftOut?.(implied.path)) {
    if (onLeftOut && (await hasDocuments(implied, signal))) onLeftOut(implied.path);
    return {};
  }
  const { zarrFormat } = layout;
  const how = { ...reading, spec, zarrFormat, isInside: true, isSparing: true, blocking, signal };
  try {
    const node = await openNode(store, implied.path, how);
    return node ? { node } : { implied };
  } catch (error) {
    return { node: brokenNode(implied.path, error) };
  }
}

/** Returns true if a document of the node exists or cannot be accessed. Reads none. */
async function hasDocuments(
  { store, layout, path }: ZarrGroup,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    const sizes = await Promise.all(layout.documentKeys.map((key) => store.size(key, { signal })));
    return sizes.some((size) => size !== undefined);
  } catch (error) {
    return brokenNode(path, error).kind === "broken";
  }
}

/** Describes a node that failed to open. @throws `error` if it is not about the node: an abort, a failing server. */
export function brokenNode(path: string, error: unknown): BrokenNode {
  if (!isZarrflowError(error) || error.code === "aborted" || error.code === "transient") throw error;
  return { kind: "broken", path, error: error.addContext({ path }) };
}

/** Creates the implied group at a path without documents; undefined if the path is not valid in the format. */
function impliedGroup(
  path: string,
  { store, spec, layout, reading }: Pick<ZarrGroup, "store" | "spec" | "layout" | "reading">,
  known: Pick<NodeParts<never>, "consolidated" | "stored"> = {},
): ZarrGroup | undefined {
  try {
    return new ZarrGroup({
      store,
      spec,
      reading,
      layout: formatNamed(layout.zarrFormat).layout(path),
      metadata: { kind: "group", attributes: {} },
      ...known,
      findings: [{ message: "no metadata document; it is a group only because nodes exist below it" }],
    });
  } catch (error) {
    if (isZarrflowError(error, "invalid-node-name")) return undefined;
    throw error;
  }
}

/** Iterates over an implied group and the nodes below it, if there are any. */
async function* withNodes(group: ZarrGroup, descent: Descent): AsyncGenerator<ZarrNode | BrokenNode> {
  const { levels } = descent;
  let seen = false;
  for await (const node of nodesOfMembers(group, { ...descent, levels: Math.max(1, levels) })) {
    if (!seen) yield group;
    seen = true;
    if (levels < 1) return;
    yield node;
  }
}

/** Iterates over all keys below a node, in all its folders, except those shared by the whole hierarchy. */
export async function* keysBelow(
  store: ListableStore,
  layout: NodeLayout,
  options: ListOptions = {},
): AsyncGenerator<KeyEntry> {
  const { sharedKeys } = layout.hierarchy;
  for (const prefix of outerPrefixes(layout)) {
    for await (const listed of store.list(prefix, options))
      if (!sharedKeys.includes(listed.key)) yield listed;
  }
}

/** Reads the documents of a node and of all nodes below it, by key. @throws as `walk` */
export async function documentsBelow(node: ZarrNode, { signal }: StoreOptions = {}): Promise<Documents> {
  const documents = new Map(node.documents);
  if (node.kind === "group") {
    for await (const below of walk(node, { signal })) {
      for (const [key, bytes] of below.documents) documents.set(key, bytes);
    }
  }
  const prefix = joinKey(node.path, "");
  return new Map([...documents].filter(([key]) => key.startsWith(prefix)));
}

/**
 * As `documentsBelow`, with documents of another format that describes the same node.
 *
 * @throws as `walk`, `inOtherFormat`
 */
export async function allDocumentsBelow(node: ZarrNode, options: WalkOptions = {}): Promise<Documents> {
  const other = await inOtherFormat(node, options);
  const others = other ? await documentsBelow(other, options) : [];
  return new Map([...(await documentsBelow(node, options)), ...others]);
}
