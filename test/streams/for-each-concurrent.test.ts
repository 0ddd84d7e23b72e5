import { describe, expect, it } from "vitest";
import { forEachConcurrent } from "../../src/streams/for-each-concurrent.ts";

describe("forEachConcurrent", () => {
  it("calls for each item, so many at a time, and resolves when all have ended", async () => {
    let running = 0;
    let most = 0;
    const ended: number[] = [];
    const call = async (item: number) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
      ended.push(item);
    };
    await forEachConcurrent([1, 2, 3, 4, 5, 6, 7], call, { concurrency: 3 });
    expect(ended.sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
  });

  it("fails with the first failure, draws no more items, and aborts the calls under way", async () => {
    const failure = new Error("third");
    let drawn = 0;
    let aborted: unknown;
    function* items() {
      for (let i = 1; i < 100; i++) {
        drawn = i;
        yield i;
      }
    }
    const call = async (item: number, { signal }: { readonly signal: AbortSignal }) => {
      if (item === 3) throw failure;
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          aborted = signal.reason;
          resolve();
        });
      });
    };
    await expect(forEachConcurrent(items(), call, { concurrency: 4 })).rejects.toBe(failure);
    expect(aborted).toBe(failure);
    expect(drawn).toBeLessThan(10);
  });

  it("ends after a failure once what draws its items has ended, too", async () => {
    const failure = new Error("second");
    let isAtWork = false;
    async function* items() {
      yield 1;
      yield 2;
      isAtWork = true;
      await new Promise((resolve) => setTimeout(resolve, 20));
      isAtWork = false;
      yield 3;
    }
    const call = async (item: number) => {
      await new Promise((resolve) => setTimeout(resolve, item));
      if (item === 2) throw failure;
    };
    await expect(forEachConcurrent(items(), call, { concurrency: 4 })).rejects.toBe(failure);
    expect(isAtWork).toBe(false);
  });
});
