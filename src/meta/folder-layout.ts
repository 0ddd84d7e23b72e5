import { decodeChunkKey, encodeChunkKey } from "./chunk-key.ts";
import type { HierarchyKeys, NodeLayout } from "./dialect.ts";
import { joinKey } from "./join-key.ts";

/** The layout of dialects in which all that belongs to a node lies below its path. */
export function folderLayout(
  dialect: NodeLayout["dialect"],
  path: string,
  documentNames: readonly string[],
  attributesName?: string,
): NodeLayout {
  const prefix = joinKey(path, "");
  return {
    dialect,
    path,
    documentKeys: documentNames.map((name) => prefix + name),
    ...(attributesName !== undefined && { attributesKey: prefix + attributesName }),
    hierarchy: folderHierarchy(documentNames),
    prefixes: [prefix],
    chunksPrefix: prefix,
    membersPrefix: prefix,
    memberName: (entry) => (entry.endsWith("/") ? entry.slice(prefix.length, -1) : undefined),
    chunkKey: (coords, encoding) => prefix + encodeChunkKey(coords, encoding),
    parseChunkKey: (key, rank, encoding) =>
      key.startsWith(prefix) ? decodeChunkKey(key.slice(prefix.length), rank, encoding) : undefined,
  };
}

function folderHierarchy(documentNames: readonly string[]): HierarchyKeys {
  return {
    sharedKeys: [],
    impliesGroups: false,
    ignoresCase: false,
    nodeOf(key) {
      const slash = key.lastIndexOf("/");
      return documentNames.includes(key.slice(slash + 1)) ? key.slice(0, Math.max(0, slash)) : undefined;
    },
    pathOf: (key) => key,
    checkKey: () => {},
  };
}
