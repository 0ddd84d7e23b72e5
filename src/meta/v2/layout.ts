import { normalisePath } from "../../util/node-path.ts";
import { folderLayout } from "../folder-layout.ts";
import type { NodeLayout } from "../format.ts";

/**
 * Keys of a v2 node: documents and chunks lie side by side below its path.
 *
 * @throws `path-not-allowed` for a segment `.` or `..`.
 */
export function layoutV2(path: string): NodeLayout {
  return folderLayout("v2", normalisePath(path), {
    documents: [".zattrs", ".zarray", ".zgroup"],
    attributes: ".zattrs",
    group: ".zgroup",
    consolidated: ".zmetadata",
    wantsAscii: true,
  });
}
