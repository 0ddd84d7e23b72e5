import type { FillOption } from "../../hierarchy/create/metadata.ts";
import type { DataTypeOption } from "../../meta/data-type-option.ts";
import type { Overflow } from "../../run/values/cast-numbers.ts";
import type { ValueMap } from "../../run/values/value-map.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { globMatcher } from "../../util/glob.ts";
import { nearestName } from "../../util/names.ts";
import { belowPath, lastName } from "../../util/node-path.ts";
import {
  assertKnown,
  assertRules,
  checkedOptions,
  invalidOption,
  isObject,
  type OptionNames,
  oneOf,
  withoutEffect,
} from "../../util/options.ts";
import { describingArrays, type GroupArray } from "./group-arrays.ts";

/** Changes of the values of an array. */
export interface ValueChanges {
  /**
   * New numeric data type. Values are cast, never scaled: floats round to the nearest float, and integer types accept
   * whole numbers in their range. Other values are rejected, unless `overflow` says otherwise.
   */
  readonly dataType?: DataTypeOption | undefined;
  /**
   * New fill value, which missing chunks read as. Items that are missing per the CF conventions become it, unless `map`
   * computes them. By default the old one, cast; NaN with `unpack`.
   */
  readonly fillValue?: FillOption | undefined;
  /**
   * Computes the new values of each source chunk: a function, or a module whose default export is one, by its URL
   * (`new URL("./celsius.js", import.meta.url)`) or file path. A module runs in all threads and in other processes, and
   * its hash is part of the plan. A function runs only in the calling thread.
   */
  readonly map?: ValueMap | URL | string | undefined;
  /**
   * Stores decoded values per the CF conventions: applies `scale_factor`, `add_offset` and `_Unsigned`, turns items
   * that are missing or outside the valid range into NaN, and removes these attributes.
   */
  readonly unpack?: boolean | undefined;
  /**
   * Packs values into integers of a type such as `int16`, and writes `scale_factor` and `add_offset` as attributes.
   * Without a given scale, one is chosen for the range of all values, which are read once more for this. NaN becomes
   * the fill value: by default the smallest value of the type, or the largest of an unsigned type. Packed sources are
   * unpacked first.
   */
  readonly pack?: PackOption | undefined;
  /** Attributes that replace those of the array, such as `{ units: "degC" }`; null removes one. */
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  /** With `clamp`, numbers that the type cannot represent become its nearest number; by default they are rejected. */
  readonly overflow?: Overflow | undefined;
}

/** How values are packed: an integer type, optionally with scale and offset: `value = packed * scale + offset`. */
export type PackOption =
  | PackedType
  | { readonly dataType: PackedType; readonly scale: number; readonly offset?: number | undefined };

/** Types that values can be packed into. */
export type PackedType = "int8" | "int16" | "int32" | "uint8" | "uint16" | "uint32";

export const VALUE_CHANGES: OptionNames<ValueChanges> = {
  dataType: true,
  fillValue: true,
  map: true,
  unpack: true,
  pack: true,
  attributes: true,
  overflow: true,
};

const PACK_OPTION: OptionNames<Exclude<PackOption, string>> = { dataType: true, scale: true, offset: true };

const isRecord = (value: unknown) => isObject(value) && !Array.isArray(value);

/** @throws `invalid-option` for unknown options, and for option values of a wrong type */
function checkedChanges(changes: ValueChanges): ValueChanges {
  const checked = checkedOptions(changes, VALUE_CHANGES);
  const { unpack, pack, attributes, overflow } = checked;
  assertRules(
    { unpack, pack, attributes, overflow },
    {
      unpack: { expected: "true or false", holds: (value) => typeof value === "boolean" },
      pack: {
        expected: "a type such as int16, or an object such as { dataType, scale, offset }",
        holds: (value) => typeof value === "string" || isRecord(value),
      },
      attributes: { expected: 'an object such as { units: "degC" }', holds: isRecord },
      overflow: oneOf("error", "clamp"),
    },
  );
  if (typeof pack === "object") assertKnown(pack, PACK_OPTION, "member");
  return checked;
}

/**
 * Changes of values, by names and globs of arrays. `*` and other globs match arrays of numbers, except coordinates,
 * bounds, grid mappings and other arrays that attributes refer to. Changes for a name override those for a glob, which
 * override those for `*`. A single array is selected by its name or a glob.
 */
export type ArrayChanges = Readonly<Record<string, ValueChanges>>;

/** Requested changes of the values of an array. */
export interface AskedValues extends ValueChanges {
  /** True if the array was named, so that an impossible change is an error. */
  readonly isNamed: boolean;
}

/**
 * Requested changes of each array, by path.
 *
 * @param root path of the opened node
 * @param name name of the opened node, if it is an array
 * @throws `invalid-option` for a name or glob that matches no array, and for unknown options
 */
export function valuesAsked(
  option: ArrayChanges,
  arrays: readonly GroupArray[],
  root: { readonly path: string; readonly kind: "array" | "group"; readonly name?: string },
): ReadonlyMap<string, AskedValues> {
  if (!isRecord(option))
    throw invalidOption(
      "invalid value for the option `arrays`",
      "an object of changes, whose members are names and globs of arrays",
      option,
    );
  const asked = new Map<string, AskedValues>();
  const describing = describingArrays(arrays);
  const nameOf = ({ path }: GroupArray) =>
    root.kind === "array" ? (root.name ?? lastName(path)) : belowPath(root.path, path);
  const entries = Object.entries(option).map(([selector, changes]) => {
    const checked = checkedChanges(changes);
    const named = arrays.filter((array) => nameOf(array) === selector);
    return { selector, changes: checked, named };
  });
  const rank = ({ selector, named }: (typeof entries)[number]) =>
    named.length > 0 ? 2 : selector === "*" ? 0 : 1;
  for (const entry of entries.toSorted((a, b) => rank(a) - rank(b))) {
    const { selector, changes, named } = entry;
    const matches = named.length > 0 ? undefined : globMatcher(selector);
    const matched = matches ? arrays.filter((array) => matches(nameOf(array))) : named;
    const isNamed = root.kind === "array" || !matches;
    const meant = isNamed
      ? matched
      : matched.filter((array) => !describing.has(array.path) && isOfNumbers(array));
    if (meant.length === 0) throw noneMeant(selector, matched, arrays.map(nameOf));
    for (const { path } of meant) asked.set(path, { ...asked.get(path), ...changes, isNamed });
  }
  const all = [...asked.values()];
  if (all.some(({ overflow }) => overflow === "clamp") && !all.some(mayOverflow))
    throw withoutEffect({ option: "overflow" }, "no value becomes another one");
  return asked;
}

function mayOverflow({ dataType, map, pack }: ValueChanges): boolean {
  return [dataType, map, pack].some((change) => change !== undefined);
}

function noneMeant(
  selector: string,
  matched: readonly GroupArray[],
  names: readonly string[],
): ZarrflowError {
  if (matched.length > 0) {
    return new ZarrflowError(
      "invalid-option",
      `\`${selector}\` matches only coordinates, arrays that others name, and arrays that hold no numbers`,
      { hint: "Give the name of an array to change it all the same." },
    );
  }
  const near = nearestName(selector, names);
  return new ZarrflowError("invalid-option", `\`arrays\` names \`${selector}\`, which no array is called`, {
    hint: near ? `Did you mean \`${near}\`?` : `The arrays are ${names.join(", ") || "none"}.`,
  });
}

function isOfNumbers({ metadata: { dataType } }: GroupArray): boolean {
  return ["bool", "int", "uint", "float", "complex"].includes(dataType.kind);
}
