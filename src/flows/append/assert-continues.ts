import { ZarrflowError } from "../../util/errors.ts";
import type { Coordinate, CoordinateOptions } from "../request/labels/coordinate.ts";
import { openCoordinate } from "../request/labels/find-coordinate.ts";
import { compareKeys, type Key } from "../request/labels/label-scale.ts";
import type { AppendedPair } from "./pair-arrays.ts";

/**
 * Asserts that the values of a coordinate continue those of the target in the same direction. Coordinates of text are
 * not checked.
 *
 * @throws `invalid-option` with the last value of the target and the first of the source.
 */
export async function assertContinues(
  { path, source, target, length }: AppendedPair,
  options: CoordinateOptions,
): Promise<void> {
  const after = await openCoordinate(source, options);
  const before = await openCoordinate(target, options);
  if (!before.scale.isMeasured) return;
  const text = (key: Key | undefined) => (key === undefined ? "nothing" : before.scale.text(key));
  const [last, oneBefore] = [await keyAt(before, length - 1), await keyAt(before, length - 2)];
  const keys = await after.all();
  const [first, second] = keys;
  const direction = directionOf(oneBefore, last) || directionOf(first, second) || 1;
  for (const [i, key] of keys.entries()) {
    const previous = i === 0 ? last : keys[i - 1];
    if (key !== undefined && (previous === undefined || direction * compareKeys(previous, key) < 0)) continue;
    const [wanted, where] = direction > 0 ? ["after", "rises"] : ["before", "falls"];
    const isFirst = i === 0;
    throw new ZarrflowError(
      "invalid-option",
      isFirst
        ? "the source does not continue where the target ends"
        : `the coordinate of the source is not sorted, while that of the target ${where}`,
      {
        path,
        expected: `${wanted} ${text(previous)}${isFirst ? ", the last value of the target" : ""}`,
        found: `${text(key)}${isFirst ? ", the first value of the source" : ""}`,
        hint: isFirst
          ? "Append each part once, in order; `zarrflow slice` cuts off what is there already."
          : "Sort the source along the dimension first.",
      },
    );
  }
}

async function keyAt(coordinate: Coordinate, index: number): Promise<Key | undefined> {
  return index < 0 ? undefined : coordinate.keyAt(index);
}

function directionOf(a: Key | undefined, b: Key | undefined): number {
  return a === undefined || b === undefined ? 0 : -compareKeys(a, b);
}
