import { describe, expect, it } from "vitest";
import { SyncCopier } from "../../../src/run/keys/copy-keys.ts";
import { MemoryLedger } from "../../../src/run/ledger.ts";
import { RunLog } from "../../../src/run/run-log.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { Store, WritableStore } from "../../../src/stores/store.ts";
import { BufferPool } from "../../../src/streams/buffer-pool.ts";
import { ByteBudget } from "../../../src/streams/byte-budget.ts";
import { crc32 } from "../../../src/util/crc32.ts";
import { all } from "../../support/consume.ts";

const value = new Uint8Array([1, 2, 3, 4, 5]);
const { signal } = new AbortController();
const keysToCopy = { key: "k", targetKey: "to/k" };

/** A source that answers at once, `ms` milliseconds later, and what a copy from it takes. */
function setUp({ ms = 0, target = new MemoryStore("target") as WritableStore, skipChecksum = false } = {}) {
  const source: Store = {
    description: "source",
    get: async () => value,
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
  const copier = new SyncCopier({ source, target, mostBytes: 1000, skipChecksum, budget, buffers, log });
  return { copier, target, ledger, held: () => [budget.leased, buffers.taken] };
}

describe("SyncCopier", () => {
  it("copies a value of listed size, and of no other, and enters it in the ledger", async () => {
    const { copier, target, ledger, held } = setUp();
    expect(await copier.copy({ ...keysToCopy, size: 7 }, signal)).toBe(false);
    expect(await target.get("to/k")).toBeUndefined();
    expect(held()).toEqual([0, 0]);
    expect(await copier.copy({ ...keysToCopy, size: 5 }, signal)).toBe(true);
    expect(await target.get("to/k")).toEqual(value);
    expect(await all(ledger.entries())).toEqual([{ key: "to/k", size: 5, crc32: crc32(value) }]);
    expect(held()).toEqual([0, 0]);
  });

  it("copies a value of unknown size once others were as large", async () => {
    const { copier, ledger, held } = setUp({ skipChecksum: true });
    for (const size of [undefined, 4, 2000]) {
      if (size !== undefined) copier.noteSize(size);
      expect(await copier.copy(keysToCopy, signal)).toBe(false);
    }
    copier.noteSize(5);
    expect(await copier.copy(keysToCopy, signal)).toBe(true);
    expect(await all(ledger.entries())).toEqual([{ key: "to/k", size: 5 }]);
    expect(held()).toEqual([0, 0]);
  });

  it("leaves the next values after one that took long", async () => {
    const { copier } = setUp({ ms: 80 });
    const value = { ...keysToCopy, size: 5 };
    expect(await copier.copy(value, signal)).toBe(true);
    expect(await copier.copy(value, signal)).toBe(false);
    await expect.poll(() => copier.copy(value, signal)).toBe(true);
  });

  it("gives back what it holds when the target fails", async () => {
    const failing = { description: "target", set: () => Promise.reject(new Error("full")) };
    const { copier, held } = setUp({ target: failing as unknown as WritableStore });
    await expect(copier.copy({ ...keysToCopy, size: 5 }, signal)).rejects.toThrow("full");
    expect(held()).toEqual([0, 0]);
  });
});
