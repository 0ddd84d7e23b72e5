import { expect, test } from "vitest";
import { after, isPromise } from "../../src/util/awaitable.ts";

test("what is there is used at once, and its failure thrown", () => {
  expect(after(2, (n) => n + 1)).toBe(3);
  expect(isPromise(2)).toBe(false);
  expect(isPromise<null>(null)).toBe(false);
  expect(() =>
    after(2, () => {
      throw new RangeError("no");
    }),
  ).toThrow(RangeError);
});

test("what will be there is waited for, whoever promised it", async () => {
  const later = after(Promise.resolve(2), (n) => n + 1);
  expect(isPromise(later)).toBe(true);
  expect(await later).toBe(3);
  // biome-ignore lint/suspicious/noThenProperty: what other libraries promise has no more than that
  const foreign = { then: (resolve: (n: number) => void) => resolve(2) } as unknown as Promise<number>;
  expect(await after(foreign, (n) => n + 1)).toBe(3);
});
