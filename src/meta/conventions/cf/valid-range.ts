import { numberIn } from "./packing.ts";

/**
 * Returns a function that is true for packed values outside `valid_range`, `valid_min` or `valid_max` (CF, section
 * 2.5.1); undefined if no range is defined.
 */
export function outsideValidRange(
  attributes: Readonly<Record<string, unknown>>,
  reread: (value: number) => number,
): ((value: number | bigint) => boolean) | undefined {
  const { valid_range, valid_min, valid_max } = attributes;
  const [first, last] = Array.isArray(valid_range) && valid_range.length === 2 ? valid_range : [];
  const bound = (attribute: unknown) => {
    const number = numberIn(attribute);
    return number === undefined ? undefined : reread(number);
  };
  const min = bound(first) ?? bound(valid_min);
  const max = bound(last) ?? bound(valid_max);
  if (min === undefined && max === undefined) return undefined;
  return (value) => (min !== undefined && value < min) || (max !== undefined && value > max);
}
