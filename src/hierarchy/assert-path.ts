import type { NodeLayout } from "../meta/format.ts";
import { formatNamed } from "../meta/formats.ts";
import { normalisePath } from "../util/node-path.ts";

/**
 * Checks the path of a node as the caller gave it, before normalisation. Only matters in formats that know no
 * normalised paths.
 *
 * @throws `path-not-allowed`, `invalid-node-name`
 */
export function assertPath({ path, zarrFormat, hierarchy }: NodeLayout, given: string): void {
  const isOfRoot = normalisePath(given) === path;
  if (isOfRoot && hierarchy.sharedKeys.length > 0) formatNamed(zarrFormat).layout(given);
}
