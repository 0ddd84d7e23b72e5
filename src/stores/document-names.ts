import { lastName } from "../util/node-path.ts";

/** Names of documents in any format that keeps them below a node's path: without them no other key is read as data. */
export const DOCUMENT_NAMES: readonly string[] = [
  "zarr.json",
  ".zmetadata",
  ".zarray",
  ".zgroup",
  ".zattrs",
  "meta",
  "attrs",
];

/** Whether a key has the name of a document. */
export function isNamedDocument(key: string): boolean {
  return DOCUMENT_NAMES.includes(lastName(key));
}

/** Whether a key has the name of a document that holds attributes alone. */
export function isNamedAttributes(key: string): boolean {
  return [".zattrs", "attrs"].includes(lastName(key));
}

/** Whether a key has the name of a document that no node can have; in v3 a node may be called `meta` or `attrs`. */
export function isOnlyDocument(key: string): boolean {
  return isNamedDocument(key) && !/(?:^|\/)(?:meta|attrs)$/.test(key);
}

/** Orders keys of documents by how many folders they are in, the root's first. */
export function byDepth(a: string, b: string): number {
  return depthOf(a) - depthOf(b);
}

function depthOf(key: string): number {
  return key.split("/").length;
}
