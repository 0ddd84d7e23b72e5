import { lastName } from "../util/node-path.ts";

/** Names of documents in all formats that store them below a node's path. Without one of them, no other key is read. */
export const DOCUMENT_NAMES: readonly string[] = [
  "zarr.json",
  ".zmetadata",
  ".zarray",
  ".zgroup",
  ".zattrs",
  "meta",
  "attrs",
];

/** True if a key has the name of a document. */
export function isNamedDocument(key: string): boolean {
  return DOCUMENT_NAMES.includes(lastName(key));
}

/** True if a key has the name of a document that contains only attributes. */
export function isNamedAttributes(key: string): boolean {
  return [".zattrs", "attrs"].includes(lastName(key));
}

/**
 * True if a key has the name of a document that cannot be a node's; in v3 a node may be named `meta` or `attrs`.
 */
export function isOnlyDocument(key: string): boolean {
  return isNamedDocument(key) && !/(?:^|\/)(?:meta|attrs)$/.test(key);
}

/** Compares keys of documents by the depth of their folder, the root first. */
export function byDepth(a: string, b: string): number {
  return depthOf(a) - depthOf(b);
}

function depthOf(key: string): number {
  return key.split("/").length;
}
