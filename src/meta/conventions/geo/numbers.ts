import { JsonNumber, type JsonValue } from "../../../util/json-value.ts";

/** Reads a list of numbers that has one of these lengths; undefined for anything else. */
export function numberList(
  value: JsonValue | undefined,
  ...lengths: readonly number[]
): number[] | undefined {
  if (!Array.isArray(value) || !lengths.includes(value.length)) return undefined;
  const numbers = value.map((one) => (one instanceof JsonNumber ? one.valueOf() : one));
  return numbers.every((one) => typeof one === "number" && Number.isFinite(one))
    ? (numbers as number[])
    : undefined;
}

/**
 * Writes numbers as JSON in the style of the previous ones: unchanged numbers keep their text, and `20.0` replaces
 * `10.0`.
 */
export function writtenLike(numbers: readonly number[], before: JsonValue | undefined): JsonValue[] {
  const old = Array.isArray(before) ? before : [];
  return numbers.map((number, i) => {
    const one = old[i];
    const isPointed = one instanceof JsonNumber && /[.eE]/.test(one.text);
    if (one !== undefined && !Array.isArray(one) && Number(one) === number) return one;
    return isPointed && Number.isInteger(number) ? new JsonNumber(`${number}.0`) : number;
  });
}

/** Parses `length` numbers separated by spaces or commas; undefined for anything else. */
export function numbersInText(text: string, length: number): number[] | undefined {
  const words = text.trim().split(/[\s,]+/);
  const numbers = words.map(Number);
  return numbers.length === length && words.every((word) => word !== "") && numbers.every(Number.isFinite)
    ? numbers
    : undefined;
}

/** Like `writtenLike`, for a text of numbers. */
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
