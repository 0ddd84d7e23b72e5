import { decodeChunkKey, encodeChunkKey } from "./chunk-key.ts";
import type { HierarchyKeys, NodeLayout } from "./format.ts";
import { joinKey } from "./join-key.ts";

/** Document names of such a format. */
export interface FolderNames {
  /** Documents of a node, in publishing order. */
  readonly documents: readonly string[];
  /** The document that contains only attributes. */
  readonly attributes?: string;
  /** The document of groups, if arrays have a different one. */
  readonly group?: string;
  /** The document with consolidated metadata. */
  readonly consolidated?: string;
  readonly wantsAscii?: boolean;
}

/** The layout of formats that store everything of a node below its path. */
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

/** The prefixes that cover every key below a node without overlap, for listing one after another. */
export function outerPrefixes({ prefixes }: NodeLayout): readonly string[] {
  return prefixes.filter((one) => !prefixes.some((other) => other !== one && one.startsWith(other)));
}

/**
 * Maps a key below one node to another node. In the same format it stays in its tree; otherwise it moves to the
 * chunks.
 */
export function movedKey(key: string, from: NodeLayout, to: NodeLayout): string {
  const tree = from.prefixes.findIndex((prefix) => key.startsWith(prefix));
  const alike = from.zarrFormat === to.zarrFormat ? to.prefixes[tree] : undefined;
  return (alike ?? to.chunksPrefix) + key.slice(from.prefixes[tree]?.length ?? 0);
}
