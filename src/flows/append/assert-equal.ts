import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { isComparable } from "../diff/compare-metadata.ts";
import { type CompareOptions, compareValues } from "../diff/compare-values.ts";
import type { ArrayPair } from "./pair-arrays.ts";

/**
 * Asserts that an array that does not grow has the same items in source and target.
 *
 * @throws `differs` with the first item that does
 */
export async function assertEqual(
  { path, source, target }: ArrayPair,
  options: Omit<CompareOptions, "path">,
): Promise<void> {
  const hint = "Only arrays that have the dimension may differ: take both parts from one grid.";
  if (!isComparable(source, target)) {
    const [expected, found] = [target, source].map(
      ({ dataType, shape }) => `${dataType} (${shape.join(", ")})`,
    );
    const reason = "data type or shape of the source and of the target differ";
    throw new ZarrflowError("differs", reason, { path, expected, found, hint } as const);
  }
  const { signal } = options;
  const [from, to] = [
    await withChunkSeparator(source, { signal }),
    await withChunkSeparator(target, { signal }),
  ];
  const difference = await compareValues(from, to, { ...options, path });
  if (difference === undefined) return;
  const { count, first, a, b } = difference;
  throw new ZarrflowError("differs", `${count} items of the source and of the target differ`, {
    path,
    expected: `${b} at ${first.join(", ") || "its only item"}`,
    found: a,
    hint,
  });
}
