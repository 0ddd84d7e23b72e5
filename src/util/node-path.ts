import { ZarrflowError } from "./errors.ts";

/**
 * Normalizes a node's path: turns `\` into `/`, and removes repeated, leading and trailing slashes. The root is "".
 *
 * @throws `path-not-allowed` when a segment is `.` or `..`.
 */
export function normalizePath(path: string): string {
  if (NORMAL.test(path)) return path;
  const normal = path
    .replaceAll("\\", "/")
    .replace(/\/+/g, "/")
    .replace(/^\/|\/$/g, "");
  const segment = normal.split("/").find((s) => s === "." || s === "..");
  if (segment !== undefined) {
    throw new ZarrflowError("path-not-allowed", `a path must not have the segment \`${segment}\``, {
      path,
      value: segment,
    });
  }
  return normal;
}

/** Matches most paths that are already normal. */
const NORMAL = /^[^./\\]+(?:\/[^./\\]+)*$/;

/** Paths of a node's ancestor groups, the root first; none for the root. */
export function ancestorPaths(path: string): string[] {
  const names = path === "" ? [] : path.split("/");
  return names.map((_, length) => names.slice(0, length).join("/"));
}

/** The path of a node relative to an ancestor; "" for the ancestor itself. */
export function belowPath(root: string, path: string): string {
  return path.slice(root.length).replace(/^\//, "");
}

/** True if a node is the group or a descendant. */
export function isAtOrBelow(path: string, group: string): boolean {
  return group === "" || path === group || path.startsWith(`${group}/`);
}

/** The name of a node in its group, or of a key in its folder. */
export function lastName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The path of a node's group, or of a key's folder; "" at the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The key of `name` in the folder of the node at `path`. */
export function joinKey(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}

/** True if two names differ only in case. */
export function isSameButForCase(a: string, b: string): boolean {
  return a !== b && a.toLowerCase() === b.toLowerCase();
}

/** Returns the error for a node at `path` that conflicts with the one at `other`. */
export function caseConflict(format: string, path: string, other: string): ZarrflowError {
  const reason = `the name differs from the existing \`${other}\` only in case`;
  return new ZarrflowError("invalid-node-name", reason, { format, path, value: other });
}

/** Returns the entry of the nearest path at or above the folder of a key. */
export function nearest<T>(key: string, byPath: ReadonlyMap<string, T>): T | undefined {
  for (let end = key.lastIndexOf("/"); end > 0; end = key.lastIndexOf("/", end - 1)) {
    const found = byPath.get(key.slice(0, end));
    if (found !== undefined) return found;
  }
  return byPath.get("");
}
