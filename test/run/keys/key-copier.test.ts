import { describe, expect, it, vi } from "vitest";
import { KeyCopier } from "../../../src/run/keys/key-copier.ts";
import { MemoryLedger } from "../../../src/run/ledger.ts";
import { RunLog } from "../../../src/run/run-log.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { Store, WritableStore } from "../../../src/stores/store.ts";
import { BufferPool } from "../../../src/streams/buffer-pool.ts";
import { ByteBudget } from "../../../src/streams/byte-budget.ts";
import { crc32 } from "../../../src/util/crc32.ts";
import { all } from "../../support/consume.ts";

const value = new Uint8Array([1, 2, 3, 4, 5]);
const context = { signal: new AbortController().signal };
const keysToCopy = { key: "k", targetKey: "to/k" };

/** A source that answers at once, `ms` milliseconds later, and a copier from it. */
async function setUp({
  ms = 0,
  target = new MemoryStore("target") as WritableStore,
  skipChecksum = false,
} = {}) {
  const get = vi.fn(async () => value);
  const source: Store = {
    description: "source",
    get,
    size: async () => value.length,
    getSync(_key, { into = new Uint8Array(5) } = {}) {
      for (const end = performance.now() + ms; performance.now() < end; );
      if (value.length > into.length) return undefined;
      into.set(value);
      return { bytes: into.subarray(0, value.length) };
    },
  };
  const budget = new ByteBudget(1e6);
  const buffers = new BufferPool(1e6);
  const ledger = new MemoryLedger();
  const log = new RunLog({ jobs: [], stages: [] }, ledger, () => 0, undefined);
  const options = { source, target, skipChecksum, budget, buffers, concurrency: 4, writerBytes: 0, log };
  const copier = await KeyCopier.open(options);
  return { copier, target, ledger, get, held: () => [budget.leased, buffers.taken] };
}

describe("KeyCopier, from a source that answers at once to a target that does not", () => {
  it("copies a value of listed size, and of no other, and enters it in the ledger", async () => {
    const { copier, target, ledger, get, held } = await setUp();
    const other = copier.copy({ ...keysToCopy, size: 7 }, context);
    await expect(other).rejects.toMatchObject({ code: "source-changed", details: { key: "k" } });
    expect(await target.get("to/k")).toBeUndefined();
    expect(held()).toEqual([0, 0]);
    get.mockClear();
    await copier.copy({ ...keysToCopy, size: 5 }, context);
    expect(get).not.toHaveBeenCalled();
    expect(await target.get("to/k")).toEqual(value);
    expect(await all(ledger.entries())).toEqual([{ key: "to/k", size: 5, crc32: crc32(value) }]);
    expect(held()).toEqual([0, 0]);
  });

  it("reads a value of unknown size at once after another was as large", async () => {
    const { copier, ledger, get, held } = await setUp({ skipChecksum: true });
    for (const _ of [1, 2, 3]) await copier.copy(keysToCopy, context);
    expect(get).toHaveBeenCalledOnce();
    expect(await all(ledger.entries())).toEqual(Array(3).fill({ key: "to/k", size: 5 }));
    expect(held()).toEqual([0, 0]);
  });

  it("waits for the next values after one that took long", async () => {
    const { copier, get } = await setUp({ ms: 80 });
    const value = { ...keysToCopy, size: 5 };
    await copier.copy(value, context);
    expect(get).not.toHaveBeenCalled();
    await copier.copy(value, context);
    expect(get).toHaveBeenCalledOnce();
    const isAtOnce = async () => {
      get.mockClear();
      await copier.copy(value, context);
      return get.mock.calls.length === 0;
    };
    await expect.poll(isAtOnce).toBe(true);
  });

  it("gives back what it holds when the target fails", async () => {
    const failing = { description: "target", set: () => Promise.reject(new Error("full")) };
    const { copier, held } = await setUp({ target: failing as unknown as WritableStore });
    await expect(copier.copy({ ...keysToCopy, size: 5 }, context)).rejects.toThrow("full");
    expect(held()).toEqual([0, 0]);
  });
});
