/** Returns the distinct JSON values in order of first appearance, and for each value its index among them. */
export function distinct<T>(values: Iterable<T>): {
  readonly all: readonly T[];
  readonly which: readonly number[];
} {
  const numbers = new Map<string, number>();
  const all: T[] = [];
  const which: number[] = [];
  for (const value of values) {
    const text = JSON.stringify(value);
    const number = numbers.get(text) ?? all.push(value) - 1;
    numbers.set(text, number);
    which.push(number);
  }
  return { all, which };
}
