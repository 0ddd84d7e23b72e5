import type { FillOption } from "../../hierarchy/create/metadata.ts";
import type { DataTypeOption } from "../../meta/data-type-option.ts";
import {
  assertKnown,
  assertRules,
  checkedOptions,
  invalid,
  isObject,
  type OptionNames,
  oneOf,
  withoutEffect,
} from "../../util/check-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { globMatcher } from "../../util/glob.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { belowPath, lastName } from "../../util/node-path.ts";
import { describingArrays } from "../request/describing-arrays.ts";
import type { GroupArray } from "../request/dimension-lengths.ts";
import type { Overflow } from "./cast-numbers.ts";
import type { ValueMap } from "./value-map.ts";

/** What becomes of the values of an array. */
export interface ValueChanges {
  /**
   * The new data type, of numbers. Values are cast and never scaled: floats round to the nearest float, a type of integers
   * takes whole numbers in its range. What it cannot hold is refused, unless `overflow` says otherwise.
   */
  readonly dataType?: DataTypeOption | undefined;
  /**
   * The new fill value: what missing chunks read as. Values that stood for missing items by the CF conventions become it,
   * unless `map` computes them. By default the old one, cast; NaN with `unpack`.
   */
  readonly fillValue?: FillOption | undefined;
  /**
   * Computes the new values of each source chunk: a function, or a module whose default export is one, by its URL
   * (`new URL("./celsius.js", import.meta.url)`) or the path of its file. A module runs in all threads and in other
   * processes, and its hash is part of the plan; a function runs in the calling thread alone.
   */
  readonly map?: ValueMap | URL | string | undefined;
  /**
   * Stores what the values mean by the CF conventions: `scale_factor`, `add_offset` and `_Unsigned` applied, items that are
   * missing or outside the valid range NaN. These attributes are removed.
   */
  readonly unpack?: boolean | undefined;
  /**
   * Packs values into integers of a type such as `int16`, by `scale_factor` and `add_offset` that are written as attributes:
   * those that are given, or such that the range of all values fits, for which these are read once more. NaN becomes the
   * fill value, by default the least value of the type (of unsigned types the largest). Packed sources are unpacked first.
   */
  readonly pack?: PackOption | undefined;
  /** Attributes that take the place of those of the array, such as `{ units: "degC" }`; null removes one. */
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  /** With `clamp`, numbers that the type cannot hold become the nearest that it holds; by default they are refused. */
  readonly overflow?: Overflow | undefined;
}

/** How values are packed: the type of integers, perhaps with scale and offset: `value = packed * scale + offset`. */
export type PackOption =
  | PackedType
  | { readonly dataType: PackedType; readonly scale: number; readonly offset?: number | undefined };

/** The types that values can be packed into. */
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

/** @throws `invalid-option` for what is no option of an array, and for values of other types than options have */
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
 * Changes of values, for names and globs of arrays. `*` and other globs mean the arrays of numbers that they match, but no
 * coordinates, bounds, grid mappings and other arrays that attributes of the others name. What a name says of an array
 * overrides what a glob says, which overrides what `*` says. A single array is meant by its name or a glob.
 */
export type ArrayChanges = Readonly<Record<string, ValueChanges>>;

/** What is asked of the values of an array. */
export interface AskedValues extends ValueChanges {
  /** Whether the array was named, so that what cannot be done to it is an error. */
  readonly isNamed: boolean;
}

/**
 * What is asked of each array, by path.
 *
 * @param root path of the node that was opened
 * @param name what that is called where it is an array
 * @throws `invalid-option` for a name or glob of no array, and for what is no option of an array
 */
export function valuesAsked(
  option: ArrayChanges,
  arrays: readonly GroupArray[],
  root: { readonly path: string; readonly kind: "array" | "group"; readonly name?: string },
): ReadonlyMap<string, AskedValues> {
  if (!isRecord(option))
    throw invalid(
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
