import { decodeChunkKey, encodeChunkKey } from "./chunk-key.ts";
import type { HierarchyKeys, NodeLayout } from "./format.ts";
import { joinKey } from "./join-key.ts";

/** Names by which such a format differs from others. */
export interface FolderNames {
  /** Of the documents of a node, in publishing order. */
  readonly documents: readonly string[];
  /** Of the one that holds nothing but attributes. */
  readonly attributes?: string;
  /** Of the one that an array has another for. */
  readonly group?: string;
  /** Of the one that holds consolidated metadata. */
  readonly consolidated?: string;
  readonly wantsAscii?: boolean;
}

/** The layout of formats in which all that belongs to a node lies below its path. */
export function folderLayout(
  zarrFormat: NodeLayout["zarrFormat"],
  path: string,
  names: FolderNames,
): NodeLayout {
  const { documents, attributes, group, consolidated } = names;
  const prefix = joinKey(path, "");
  return {
    zarrFormat,
    path,
    documentKeys: documents.map((name) => prefix + name),
    ...(attributes !== undefined && { attributesKey: prefix + attributes }),
    ...(group !== undefined && { groupKey: prefix + group }),
    ...(consolidated !== undefined && { consolidatedKey: prefix + consolidated }),
    hierarchy: folderHierarchy(names),
    prefixes: [prefix],
    chunksPrefix: prefix,
    membersPrefix: prefix,
    memberName: (entry) => (entry.endsWith("/") ? entry.slice(prefix.length, -1) : undefined),
    chunkKey: (coords, encoding) => prefix + encodeChunkKey(coords, encoding),
    parseChunkKey: (key, rank, encoding) =>
      key.startsWith(prefix) ? decodeChunkKey(key.slice(prefix.length), rank, encoding) : undefined,
  };
}

function folderHierarchy({ documents, wantsAscii = false }: FolderNames): HierarchyKeys {
  return {
    sharedKeys: [],
    impliesGroups: false,
    ignoresCase: false,
    wantsAscii,
    nodeOf(key) {
      const slash = key.lastIndexOf("/");
      return documents.includes(key.slice(slash + 1)) ? key.slice(0, Math.max(0, slash)) : undefined;
    },
    pathOf: (key) => key,
    assertKey: () => {},
  };
}

/** The prefixes that hold every key below a node, none inside another: to be listed one after another. */
export function outerPrefixes({ prefixes }: NodeLayout): readonly string[] {
  return prefixes.filter((one) => !prefixes.some((other) => other !== one && one.startsWith(other)));
}

/** Where a key below one node goes when it becomes part of another: to the tree like its own, or to the chunks. */
export function movedKey(key: string, from: NodeLayout, to: NodeLayout): string {
  const tree = from.prefixes.findIndex((prefix) => key.startsWith(prefix));
  const alike = from.zarrFormat === to.zarrFormat ? to.prefixes[tree] : undefined;
  return (alike ?? to.chunksPrefix) + key.slice(from.prefixes[tree]?.length ?? 0);
}
