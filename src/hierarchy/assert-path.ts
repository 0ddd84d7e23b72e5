import type { NodeLayout } from "../meta/format.ts";
import { formatNamed } from "../meta/formats.ts";
import { normalisePath } from "../util/node-path.ts";

/**
 * Judges the path of a node as it was given, before it was put into normal form, in formats that know no such form.
 *
 * @throws `path-not-allowed`, `invalid-node-name`
 */
export function assertPath({ path, zarrFormat, hierarchy }: NodeLayout, given: string): void {
  const isOfRoot = normalisePath(given) === path;
  if (isOfRoot && hierarchy.sharedKeys.length > 0) formatNamed(zarrFormat).layout(given);
}
