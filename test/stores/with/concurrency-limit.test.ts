import { describe, expect, expectTypeOf, it } from "vitest";
import { MemoryStore } from "../../../src/stores/memory.ts";
import {
  isListable,
  isWritable,
  type ListableStore,
  type Store,
  type WritableStore,
} from "../../../src/stores/store.ts";
import { storeChecks } from "../../../src/stores/testing.ts";
import { withConcurrencyLimit } from "../../../src/stores/with/concurrency-limit.ts";
import { ZipWriter } from "../../../src/stores/zip.ts";
import { settled } from "../../support/until.ts";
import { MemorySink } from "../memory-sink.ts";

const filled = async (values: ReadonlyMap<string, Uint8Array>) => {
  const store = new MemoryStore();
  for (const [key, value] of values) await store.set(key, value);
  return withConcurrencyLimit(store, 2);
};

/** Reads take a while; tells how many are under way. */
function slow(): { store: Store; most: () => number; calls: () => number } {
  let now = 0;
  let most = 0;
  let calls = 0;
  const take = async () => {
    calls++;
    most = Math.max(most, ++now);
    await settled();
    now--;
    return undefined;
  };
  return { store: { description: "slow", get: take, size: take }, most: () => most, calls: () => calls };
}

describe("withConcurrencyLimit", () => {
  for (const { name, run } of storeChecks({
    lists: true,
    filled,
    empty: async () => withConcurrencyLimit(new MemoryStore(), 2),
  }))
    it(name, () => run());

  it("has no more calls under way than it may, and makes them all", async () => {
    const { store, most, calls } = slow();
    const limited = withConcurrencyLimit(store, 3);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? limited.get(`${i}`) : limited.size(`${i}`))),
    );
    expect(most()).toBe(3);
    expect(calls()).toBe(20);
  });

  it("does not make calls that are aborted while they wait", async () => {
    const { store, calls } = slow();
    const limited = withConcurrencyLimit(store, 1);
    const controller = new AbortController();
    const first = limited.get("0");
    const waiting = limited.get("1", { signal: controller.signal });
    const reason = { why: "enough" };
    controller.abort(reason);
    await expect(waiting).rejects.toMatchObject({ code: "aborted", cause: reason });
    await first;
    expect(calls()).toBe(1);
  });

  it("keeps the capabilities of the store, and adds none", () => {
    const bare = withConcurrencyLimit(slow().store, 1);
    expect([isListable(bare), isWritable(bare), "close" in bare]).toEqual([false, false, false]);
    const memory = withConcurrencyLimit(new MemoryStore(), 1);
    expect([isListable(memory), isWritable(memory), memory.description]).toEqual([true, true, "memory"]);
    expectTypeOf(memory).toExtend<ListableStore & WritableStore>();
    const zip = withConcurrencyLimit(new ZipWriter(new MemorySink(), "zip"), 1);
    expect([isListable(zip), zip.singleWriter]).toEqual([false, true]);
  });

  it("lets an open writer of an archive go on while others wait for it", async () => {
    const zip = withConcurrencyLimit(new ZipWriter(new MemorySink(), "zip"), 1);
    const writer = await zip.openWriter("a");
    const other = zip.set("b", new Uint8Array(1));
    await writer.write(new Uint8Array(1));
    await writer.commit();
    await other;
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses %s at once", (concurrency) => {
    expect(() => withConcurrencyLimit(new MemoryStore(), concurrency)).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  });
});
