import { describe, expect, it } from "vitest";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { GetOptions } from "../../../src/stores/store.ts";
import { type MergeOptions, withMergedRanges } from "../../../src/stores/with/merged-ranges.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";
import { settled, until } from "../../support/until.ts";
import { writableStoreChecks } from "../writable-store-checks.ts";

const value = Uint8Array.from({ length: 10_000 }, (_, i) => i * 7 + (i >> 8));
const part = (offset: number, length: number) => value.slice(offset, offset + length);

/** A store with one value `a`, what was asked of it, and failures of its next calls. */
class AskedStore extends MemoryStore {
  readonly asked: string[] = [];
  readonly failures: Error[] = [];
  readonly signals: (AbortSignal | undefined)[] = [];

  override async get(key: string, options: GetOptions = {}) {
    const { range } = options;
    if (range && "offset" in range) this.asked.push(`${key} ${range.offset}+${range.length}`);
    else this.asked.push(key);
    this.signals.push(options.signal);
    await settled();
    const failure = this.failures.shift();
    if (failure) throw failure;
    return super.get(key, options);
  }
}

async function storeOf(options?: MergeOptions) {
  const inner = new AskedStore();
  for (const key of ["a", "b"]) await inner.set(key, value);
  return { inner, store: withMergedRanges(inner, options) };
}

describe("withMergedRanges", () => {
  for (const { name, run } of writableStoreChecks(async () => withMergedRanges(new MemoryStore())))
    it(name, () => run());

  it("reads near ranges of a value in one request, in whatever order, also where they overlap", async () => {
    const { inner, store } = await storeOf({ mostBetween: 100 });
    const ranges = [
      [500, 50],
      [0, 10],
      [100, 20],
      [105, 5],
      [9990, 100],
      [9000, 10],
    ] as const;
    const read = await Promise.all(
      ranges.map(([offset, length]) => store.get("a", { range: { offset, length } })),
    );
    expect(read).toEqual(ranges.map(([offset, length]) => part(offset, length)));
    expect(inner.asked).toEqual(["a 0+120", "a 500+50", "a 9000+10", "a 9990+100"]);
  });

  it("reads no more together than it may", async () => {
    const { inner, store } = await storeOf({ mostTogether: 1000 });
    await Promise.all(
      [0, 400, 800, 1200].map((offset) => store.get("a", { range: { offset, length: 300 } })),
    );
    expect(inner.asked).toEqual(["a 0+700", "a 800+700"]);
  });

  it("keeps values apart, and does not touch other questions", async () => {
    const { inner, store } = await storeOf();
    const range = { offset: 1, length: 2 };
    await Promise.all([
      store.get("a", { range }),
      store.get("b", { range }),
      store.get("a"),
      store.get("a", { range: { suffix: 5 } }),
      store.get("a", { range: { offset: 9000 } }),
    ]);
    expect(inner.asked.toSorted()).toEqual(["a", "a", "a 1+2", "a 9000+undefined", "b 1+2"]);
  });

  it("gives each range a buffer of its own, the one that it was given, cut at the end of the value", async () => {
    const { store } = await storeOf();
    const buffer = new Uint8Array(10);
    const [first, last] = await Promise.all([
      store.get("a", { range: { offset: 9980, length: 10 }, allocate: () => buffer }),
      store.get("a", { range: { offset: 9985, length: 100 } }),
    ]);
    expect(first).toBe(buffer);
    expect(first).toEqual(part(9980, 10));
    expect(last).toEqual(part(9985, 15));
    first?.fill(0);
    expect(last).toEqual(part(9985, 15));
  });

  it("finds a missing key missing for all", async () => {
    const { inner, store } = await storeOf();
    const ask = (offset: number) => store.get("none", { range: { offset, length: 1 } });
    expect(await Promise.all([ask(0), ask(5)])).toEqual([undefined, undefined]);
    expect(inner.asked).toEqual(["none 0+6"]);
  });

  it("asks for each range alone where they could not be read together", async () => {
    const { inner, store } = await storeOf();
    inner.failures.push(new ZarrflowError("transient", "not now"), new ZarrflowError("transient", "nor now"));
    const ask = (offset: number) => store.get("a", { range: { offset, length: 1 } });
    const [first, second] = await Promise.allSettled([ask(0), ask(5)]);
    expect(inner.asked).toEqual(["a 0+6", "a 0+1", "a 5+1"]);
    expect(first).toMatchObject({ status: "rejected", reason: { reason: "nor now" } });
    expect(second).toEqual({ status: "fulfilled", value: part(5, 1) });
  });

  it("goes on for the others when one is aborted, and stops when all are", async () => {
    const { inner, store } = await storeOf();
    const [one, two] = [new AbortController(), new AbortController()];
    const ask = (offset: number, { signal }: AbortController) =>
      store.get("a", { range: { offset, length: 1 }, signal });
    const reading = [ask(0, one), ask(5, two)];
    const outcome = Promise.allSettled(reading);
    await until(() => inner.signals.length > 0);
    one.abort(new Error("enough"));
    await expect(reading[0]).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
    expect(inner.signals[0]?.aborted).toBe(false);
    two.abort(new Error("all of it"));
    expect(inner.signals[0]?.aborted).toBe(true);
    expect(await outcome).toMatchObject([
      { status: "rejected" },
      { reason: { code: "aborted", cause: new Error("all of it") } },
    ]);
    const aborted = AbortSignal.abort(new Error("before"));
    const range = { offset: 0, length: 1 };
    await expect(store.get("a", { range, signal: aborted })).rejects.toMatchObject({
      code: "aborted",
      cause: new Error("before"),
    });
  });
});
