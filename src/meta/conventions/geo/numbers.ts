import { JsonNumber, type JsonValue } from "../../../util/json-value.ts";

/** Degrees of longitude, after which the first meridian comes again. */
export const FULL_TURN = 360;

/** The numbers of a list of one of these lengths; undefined for anything else. */
export function numbersIn(value: JsonValue | undefined, ...lengths: readonly number[]): number[] | undefined {
  if (!Array.isArray(value) || !lengths.includes(value.length)) return undefined;
  const numbers = value.map((one) => (one instanceof JsonNumber ? one.valueOf() : one));
  return numbers.every((one) => typeof one === "number" && Number.isFinite(one))
    ? (numbers as number[])
    : undefined;
}

/** Numbers as JSON: those that stay as they were written, others in the manner of those: `20.0` in the place of `10.0`. */
export function writtenLike(numbers: readonly number[], before: JsonValue | undefined): JsonValue[] {
  const old = Array.isArray(before) ? before : [];
  return numbers.map((number, i) => {
    const one = old[i];
    const isPointed = one instanceof JsonNumber && /[.eE]/.test(one.text);
    if (one !== undefined && !Array.isArray(one) && Number(one) === number) return one;
    return isPointed && Number.isInteger(number) ? new JsonNumber(`${number}.0`) : number;
  });
}

/** The numbers of a text that separates them by blanks; undefined unless there are as many. */
export function numbersInText(text: string, length: number): number[] | undefined {
  const words = text.trim().split(/[\s,]+/);
  const numbers = words.map(Number);
  return numbers.length === length && words.every((word) => word !== "") && numbers.every(Number.isFinite)
    ? numbers
    : undefined;
}

/** The same for a text of numbers. */
export function textLike(numbers: readonly number[], before: string): string {
  const words = before.trim().split(/[\s,]+/);
  return numbers
    .map((number, i) => {
      const word = words[i] ?? "";
      if (Number(word) === number) return word;
      return word.includes(".") && Number.isInteger(number) ? `${number}.0` : `${number}`;
    })
    .join(/,/.test(before) ? "," : " ");
}
