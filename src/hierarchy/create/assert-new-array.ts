import { assertRules, codec, invalid, isObject, oneOf, type Rule, text } from "../../util/check-options.ts";

const listOf = (expected: string, holds: (one: unknown) => boolean): Rule => ({
  expected,
  // `Array.from` also visits holes of sparse lists
  holds: (value) => Array.isArray(value) && Array.from(value).every(holds),
});

const numbers = listOf("a list of numbers", (one) => typeof one === "number");

/** Types of the members of a new array. Values are checked later. */
const RULES: Readonly<Record<string, Rule>> = {
  shape: numbers,
  chunks: numbers,
  shards: numbers,
  codec,
  codecs: listOf(
    "a list of names and objects",
    (one) => text.holds(one) || (isObject(one) && !Array.isArray(one)),
  ),
  order: oneOf("C", "F"),
  separator: oneOf(".", "/"),
  dimensionNames: listOf("a list of strings, and null for none", (one) => one === null || text.holds(one)),
  attributes: { expected: "an object", holds: (value) => isObject(value) && !Array.isArray(value) },
};

/** Checks that a new array has the types of `NewArray`. @throws `invalid-option` */
export function assertNewArray(array: { readonly shape?: unknown; readonly chunks?: unknown }): void {
  assertRules(array, RULES);
  for (const name of ["shape", "chunks"] as const) {
    if (array[name] === undefined) throw invalid(`the array has no \`${name}\``, numbers.expected, undefined);
  }
}
