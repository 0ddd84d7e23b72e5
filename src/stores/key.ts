import { ZarrflowError } from "../util/errors.ts";
import { lastName } from "../util/node-path.ts";

/** Matches empty, `.` and `..` segments (and so slashes at the ends), backslashes, NUL, and malformed Unicode. */
const forbidden = /(?:^|\/)\.{0,2}(?:\/|$)|[\\\0]|\p{Surrogate}/u;

/** True if `text` is a valid key. */
export function isKey(text: string): boolean {
  return !forbidden.test(text);
}

/**
 * Checks that a key is relative, normalized, and inside the root.
 *
 * @throws `path-not-allowed` with the key and the rule that it breaks.
 */
export function assertKey(key: string): void {
  if (isKey(key)) return;
  throw new ZarrflowError("path-not-allowed", `a key ${brokenRule(key)}`, { key });
}

/**
 * Checks that a prefix is empty, or a key followed by `/`.
 *
 * @throws `path-not-allowed` with the prefix and the rule that it breaks.
 */
export function assertPrefix(prefix: string): void {
  if (prefix === "") return;
  if (!prefix.endsWith("/")) {
    throw new ZarrflowError("path-not-allowed", "a prefix must be empty or end in `/`", { key: prefix });
  }
  assertKey(prefix.slice(0, -1));
}

/**
 * Checks the two names of a rename: both keys or both prefixes, neither below the other.
 *
 * @throws `path-not-allowed`
 */
export function assertRename(from: string, to: string): void {
  for (const name of [from, to]) assertKey(name.replace(/\/$/, ""));
  const isInside = (inner: string, outer: string) => `${inner}/`.startsWith(outer.replace(/\/?$/, "/"));
  if (from.endsWith("/") === to.endsWith("/") && !isInside(from, to) && !isInside(to, from)) return;
  throw new ZarrflowError("path-not-allowed", "this pair of keys cannot be renamed", {
    key: from,
    value: to,
  });
}

function brokenRule(key: string): string {
  if (key === "") return "must not be empty";
  if (key.startsWith("/")) return "must be relative, without a leading `/`";
  if (key.endsWith("/")) return "must not end in `/`";
  if (key.includes("\\")) return "must not contain a backslash";
  if (key.includes("\0")) return "must not contain NUL";
  const segments = key.split("/");
  if (segments.includes("")) return "must not have an empty segment";
  if (segments.includes("..")) return "must not have the segment `..`, which points outside its folder";
  if (segments.includes(".")) return "must not have the segment `.`";
  return "must be well-formed Unicode";
}

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
 * True if a key has the name of a document that cannot be that of a node; in v3 a node may be named `meta` or `attrs`.
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
