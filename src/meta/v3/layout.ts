import { ZarrflowError } from "../../util/errors.ts";
import { folderLayout } from "../folder-layout.ts";
import type { NodeLayout } from "../format.ts";

/**
 * Keys of a v3 node. Names stand as they are; a slash at either end of the path is taken off.
 *
 * @throws `invalid-node-name` with the rule that a name breaks.
 */
export function layoutV3(path: string): NodeLayout {
  const normal = path.replace(/^\//, "").replace(/\/$/, "");
  for (const name of normal === "" ? [] : normal.split("/")) {
    const broken = brokenRule(name);
    if (broken === undefined) continue;
    throw new ZarrflowError("invalid-node-name", `the node name \`${name}\` ${broken}`, {
      format: "v3",
      path,
    });
  }
  return folderLayout("v3", normal, { documents: ["zarr.json"], consolidated: "zarr.json" });
}

function brokenRule(name: string): string | undefined {
  if (name === "") return "is empty";
  if (/^\.+$/.test(name)) return "has only periods";
  if (name.startsWith("__")) return "starts with `__`, which is reserved";
  if (name === "zarr.json") return "is reserved";
  return undefined;
}
