import { onlyItem } from "../../assert-json.ts";
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

/** Returns the names of a value's flags, from `flag_values` or `flag_masks` and `flag_meanings` (CF, section 3.5). */
export type FlagNames = (value: number | bigint) => string;

/**
 * Returns a function that names values: by the single flag that equals the value, or by all flags that its bits
 * contain, separated by spaces. A value that equals no flag becomes its number. Undefined if the attributes define no
 * flags.
 */
export function flagNamesOf(attributes: Readonly<Record<string, unknown>>): FlagNames | undefined {
  const { flag_values, flag_masks } = attributes;
  const flag_meanings = onlyItem(attributes.flag_meanings);
  const values = numbersIn(flag_values);
  const masks = numbersIn(flag_masks);
  const meanings = typeof flag_meanings === "string" ? flag_meanings.trim().split(/\s+/) : [];
  if (meanings.length !== (values ?? masks)?.length) return undefined;
  if (masks === undefined) {
    const names = new Map(values?.map((value, i) => [value, meanings[i]]));
    return (value) => names.get(BigInt(value)) ?? `${value}`;
  }
  if (masks.length !== meanings.length) return undefined;
  return (value) => {
    const bits = BigInt(value);
    return meanings.filter((_, i) => (bits & (masks[i] ?? 0n)) === (values ?? masks)[i]).join(" ");
  };
}

function numbersIn(attribute: unknown): bigint[] | undefined {
  if (attribute === undefined) return undefined;
  const list: unknown[] = [attribute].flat();
  const isWhole = (one: unknown) => typeof one === "bigint" || Number.isSafeInteger(one);
  return list.every(isWhole) ? list.map((one) => BigInt(one as number)) : undefined;
}
