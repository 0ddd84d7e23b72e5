import type { ZarrNode } from "../../hierarchy/node.ts";
import {
  areOfImage,
  type DimensionConflict,
  type DimensionedArray,
  dimensionConflicts,
  dimensionsOf,
} from "../../meta/conventions/dimension-conflicts.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { targetPath } from "../plan/target-path.ts";

type Described = Pick<ZarrNode, "path" | "metadata">;

/** Dimensions that have different lengths in arrays of one group. Levels of images may differ. */
export function conflictsOf(
  nodes: Iterable<Described>,
  added: readonly DimensionedArray[] = [],
): DimensionConflict[] {
  const all = [...nodes];
  const images = new Set(
    all.flatMap(({ path, metadata }) =>
      metadata.kind === "group" && areOfImage(metadata.attributes) ? [path] : [],
    ),
  );
  const arrays = all.flatMap(({ path, metadata }) =>
    metadata.kind === "array" ? [dimensionsOf(path, metadata)] : [],
  );
  return dimensionConflicts([...arrays, ...added], (group) => images.has(group));
}

/**
 * Asserts that dimensions of the added arrays are as long as those of the same name in the target. Dimensions that
 * already differ in the source are allowed.
 *
 * @throws `differs` for a dimension that would have two lengths in one group
 */
export function assertSameLengths(
  existing: Iterable<Described>,
  added: readonly DimensionedArray[],
  source: { readonly nodes: Iterable<Described>; readonly path: string; readonly target: string },
): void {
  const names = new Set(added.map(({ path }) => path));
  const nameOf = (group: string, name: string) => JSON.stringify([group, name]);
  const own = conflictsOf(source.nodes).map(({ group, name }) =>
    nameOf(targetPath(group, source.path, source.target), name),
  );
  const conflict = conflictsOf(existing, added).find(
    ({ group, name, b }) => names.has(b.path) && !own.includes(nameOf(group, name)),
  );
  if (conflict === undefined) return;
  const { name, a, b } = conflict;
  throw new ZarrflowError(
    "differs",
    `the target has another length of the dimension ${JSON.stringify(name)} than what is added`,
    {
      path: b.path,
      expected: `${a.length} items, as in ${a.path}`,
      found: `${b.length} items`,
      hint: "Add it to another target, cut it to the same length (slice), or replace the target.",
    },
  );
}
