import { assertRules, codec, invalid, isObject, oneOf, type Rule, text } from "../../util/check-options.ts";

const listOf = (expected: string, holds: (one: unknown) => boolean): Rule => ({
  expected,
  // `Array.from`, which does not skip what a list leaves out
  holds: (value) => Array.isArray(value) && Array.from(value).every(holds),
});

const numbers = listOf("a list of numbers", (one) => typeof one === "number");

/** What the members of a new array must be, before anybody asks what they mean. */
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

/** Holds that a new array is written as `NewArray` says. @throws `invalid-option` */
export function assertNewArray(array: { readonly shape?: unknown; readonly chunks?: unknown }): void {
  assertRules(array, RULES);
  for (const name of ["shape", "chunks"] as const) {
    if (array[name] === undefined) throw invalid(`the array has no \`${name}\``, numbers.expected, undefined);
  }
}
