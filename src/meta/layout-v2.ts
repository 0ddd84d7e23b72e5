import { normalisePath } from "../util/node-path.ts";
import type { NodeLayout } from "./dialect.ts";
import { folderLayout } from "./folder-layout.ts";

/**
 * Keys of a v2 node: documents and chunks lie side by side below its path.
 *
 * @throws `path-not-allowed` for a segment `.` or `..`.
 * @see V2-2, V2-70, V2-71
 */
export function layoutV2(path: string): NodeLayout {
  return folderLayout("v2", normalisePath(path), [".zattrs", ".zarray", ".zgroup"], ".zattrs");
}
