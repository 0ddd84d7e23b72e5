import { ZarrflowError } from "./errors.ts";

/**
 * Normalises a node's path: turns `\` into `/`, and removes repeated, leading and trailing slashes. The root is "".
 *
 * @throws `path-not-allowed` when a segment is `.` or `..`.
 */
export function normalisePath(path: string): string {
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
