import { type OmeMembers, omeMembers, omeSeries } from "../../meta/conventions/ome/members.ts";
import type { Documents, NodeLayout } from "../../meta/format.ts";
import type { ListableStore, ListOptions } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { sortUtf8 } from "../../util/names.ts";
import { ancestorPaths, joinKey } from "../../util/node-path.ts";
import { type ConsolidatedOptions, consolidatedV2, consolidatedV3 } from "../consolidated.ts";
import type { ZarrGroup } from "../node.ts";
import { readDocument } from "../stored-documents.ts";
import { type Ancestor, ancestorsOf, isUnreadableAbove, openNode } from "./open-node.ts";

/** Names of a group's members, sorted. The values are the paths of nodes below each member that a group above names. */
export type Members = ReadonlyMap<string, readonly string[]>;

/** Maximum depth of a path: an image in a plate has a depth of five. */
const MAX_DEPTH = 32;

/** Maximum number of images in a collection without a list. */
const MAX_NUMBERED = 10_000;

/** True if a group's own metadata name its members. */
export function namesMembers({ metadata }: ZarrGroup): boolean {
  return omeMembers(metadata.attributes) !== undefined;
}

/**
 * Returns the members of a group in a store that cannot list: those named by its metadata, and those named by a group
 * above it.
 *
 * @throws `unsupported-operation` if nothing names the members; `resource-limit` for hostile metadata.
 */
export async function namedMembers(
  group: ZarrGroup,
  named: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<Members> {
  const { store, path, metadata, documents } = group;
  if (ancestorPaths(path).length > MAX_DEPTH) {
    throw new ZarrflowError("resource-limit", "groups are nested too deeply", {
      store: store.description,
      path,
      expected: `at most ${MAX_DEPTH} deep`,
    });
  }
  const own = omeMembers(metadata.attributes);
  const isNamedPath = named !== undefined && documents.size === 0;
  if (own === undefined && !named?.length && !isNamedPath) {
    throw new ZarrflowError("unsupported-operation", "this store cannot list the members of a group", {
      store: store.description,
      path,
      hint: "Give the path of an array inside it.",
    });
  }
  const images = own === undefined ? [] : await imagesOf(group, own, signal);
  return byFirstName([...(named ?? []), ...(own?.paths ?? []), ...images]);
}

/** Returns paths of the images of a collection: those in its series, or the numbered ones. */
async function imagesOf(
  { store, spec, layout, path, reading }: ZarrGroup,
  { seriesIn }: OmeMembers,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  if (seriesIn === undefined) return [];
  const { zarrFormat } = layout;
  const nodeAt = (name: string) =>
    openNode(store, joinKey(path, name), { ...reading, spec, zarrFormat, isInside: true, signal });
  const series = omeSeries((await nodeAt(seriesIn))?.metadata.attributes ?? {});
  if (series) return series;
  const numbered: string[] = [];
  while (numbered.length < MAX_NUMBERED && (await nodeAt(`${numbered.length}`))) {
    numbered.push(`${numbered.length}`);
  }
  return numbered;
}

function byFirstName(paths: readonly string[]): Members {
  const below = new Map<string, string[]>();
  for (const path of paths) {
    const [name = "", ...rest] = path.split("/");
    const known = below.get(name) ?? [];
    if (rest.length > 0) known.push(rest.join("/"));
    below.set(name, known);
  }
  return new Map(sortUtf8([...below.keys()]).map((name) => [name, below.get(name) ?? []]));
}

/** Returns the names of possible members of the group of `layout`, sorted. */
export async function childNames(
  store: ListableStore,
  layout: NodeLayout,
  options: ListOptions = {},
): Promise<string[]> {
  const names = new Set<string>();
  for await (const entry of store.listDirectory(layout.membersPrefix, options)) {
    const name = layout.memberName("prefix" in entry ? entry.prefix : entry.key);
    if (name !== undefined) names.add(name);
  }
  return sortUtf8([...names]);
}

/**
 * Returns the documents below a group from the consolidated metadata of a group above it, possibly above the root of
 * the store. Their keys are in the group's store. Undefined if no group above has any.
 *
 * @throws `invalid-metadata` for broken documents in the group's own store
 */
export async function consolidatedAbove(
  group: ZarrGroup,
  options: ConsolidatedOptions = {},
): Promise<Documents | undefined> {
  const { store, spec, path } = group;
  for await (const above of ancestorsOf(store, spec, path)) {
    if (above.path === above.nodePath) continue;
    try {
      const documents = await consolidatedIn(above, group, options);
      if (documents) return movedDocuments(documents, above.nodePath, path);
    } catch (error) {
      if (above.isOutside && isUnreadableAbove(error)) return undefined;
      throw error;
    }
  }
  return undefined;
}

/** Reads the consolidated metadata of the group at an ancestor's path, if it has the format of the group below. */
async function consolidatedIn(
  { store, path, isOutside }: Ancestor,
  { layout, reading }: ZarrGroup,
  { stored, ...options }: ConsolidatedOptions,
): Promise<Documents | undefined> {
  const limits = { ...reading, ...options };
  // keys of another store would be looked up in the group's own
  const kept = isOutside ? undefined : stored;
  if (layout.zarrFormat === "v2")
    return consolidatedV2(store, path, { ...limits, ...(kept && { stored: kept }) });
  if (layout.zarrFormat !== "v3") return undefined;
  const key = joinKey(path, "zarr.json");
  const found = await readDocument(store, key, limits);
  const documents = found && consolidatedV3(found.bytes, path, limits);
  if (documents) kept?.set(key, found);
  return documents;
}

/** Moves documents at or below `from` to `to`; undefined without any. */
function movedDocuments(documents: Documents, from: string, to: string): Documents | undefined {
  const prefix = joinKey(from, "");
  const below = [...documents].filter(([key]) => key.startsWith(prefix));
  if (below.length === 0) return undefined;
  return new Map(below.map(([key, bytes]) => [joinKey(to, key.slice(prefix.length)), bytes]));
}
