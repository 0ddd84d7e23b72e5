import { decodeChunkKey, encodeChunkKey } from "./chunk-key.ts";
import type { NodeLayout } from "./dialect.ts";
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
    chunkKey: (coords, encoding) => prefix + encodeChunkKey(coords, encoding),
    parseChunkKey: (key, rank, encoding) =>
      key.startsWith(prefix) ? decodeChunkKey(key.slice(prefix.length), rank, encoding) : undefined,
  };
}
