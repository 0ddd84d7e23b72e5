import { ZarrflowError } from "./errors.ts";

/**
 * The normal form of a node's path: `\` becomes `/`, slashes at the ends go, runs of slashes become one. The root
 * is "".
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

/** Paths, most of them, that are in their normal form. */
const NORMAL = /^[^./\\]+(?:\/[^./\\]+)*$/;

/** Paths of the groups that a node lies in, the root first; none for the root. */
export function ancestorPaths(path: string): string[] {
  const names = path === "" ? [] : path.split("/");
  return names.map((_, length) => names.slice(0, length).join("/"));
}

/** The path of a node as seen from one above it; "" for that itself. */
export function belowPath(root: string, path: string): string {
  return path.slice(root.length).replace(/^\//, "");
}

/** Whether a node is a group, or lies in it. */
export function isAtOrBelow(path: string, group: string): boolean {
  return group === "" || path === group || path.startsWith(`${group}/`);
}

/** The name of a node in its group, or of a key in its folder. */
export function lastName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The path of the group that a node is in, or of the folder that a key is in; "" for what is at the root, and for that itself. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
