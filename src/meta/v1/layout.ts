import { normalisePath } from "../../util/node-path.ts";
import { folderLayout } from "../folder-layout.ts";
import type { NodeLayout } from "../format.ts";

/**
 * Keys of a v1 array: two documents and the chunks, side by side. The format knows one array a location; a path is
 * the folder of a store in which such an array lies.
 *
 * @throws `path-not-allowed` for a segment `.` or `..`.
 */
export function layoutV1(path: string): NodeLayout {
  return folderLayout("v1", normalisePath(path), { documents: ["attrs", "meta"], attributes: "attrs" });
}
