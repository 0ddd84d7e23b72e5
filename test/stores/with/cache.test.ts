import { describe, expect, it } from "vitest";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { type CacheOptions, withCache } from "../../../src/stores/with/cache.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { until } from "../../support/until.ts";
import { writableStoreChecks } from "../writable-store-checks.ts";

const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => i);

describe("withCache", () => {
  for (const { name, run } of writableStoreChecks(async () => withCache(new MemoryStore())))
    it(name, () => run());

  /** A cache of a store with the values `a`, `b` and `c` of 1000 bytes, and what was asked of that store. */
  const cached = async (options?: CacheOptions) => {
    const inner = new MemoryStore();
    for (const key of ["a", "b", "c"]) await inner.set(key, bytes(1000));
    const asked: string[] = [];
    const logged = withRequestLog(inner, ({ operation, key }) => asked.push(`${operation} ${key}`));
    return { inner, asked, store: withCache(logged, options) };
  };

  it("asks once for a value, its parts, and a key that is missing", async () => {
    const { store, asked } = await cached();
    for (let i = 0; i < 2; i++) {
      expect(await store.get("b", { range: { offset: 5, length: 2 } })).toEqual(bytes(1000).slice(5, 7));
      expect(await store.get("b", { range: { suffix: 3 } })).toEqual(bytes(1000).slice(-3));
      expect(await store.get("a")).toEqual(bytes(1000));
      expect(await store.get("a", { range: { offset: 998 } })).toEqual(bytes(1000).slice(998));
      expect(await store.get("none")).toBeUndefined();
      expect(await store.get("none", { range: { suffix: 1 } })).toBeUndefined();
    }
    expect(asked).toEqual(["get b", "get b", "get a", "get none"]);
  });

  it("gives copies, into the buffers that it is given", async () => {
    const { store } = await cached();
    const first = await store.get("a");
    first?.fill(0);
    const buffer = new Uint8Array(1000);
    expect(await store.get("a", { allocate: () => buffer })).toBe(buffer);
    expect(buffer).toEqual(bytes(1000));
  });

  it("keeps no more bytes than it may: what was not used for longest goes", async () => {
    const { store, asked } = await cached({ maxBytes: 2500 });
    for (const key of ["a", "b", "a", "c", "a", "b"]) await store.get(key);
    expect(asked).toEqual(["get a", "get b", "get c", "get b"]);
  });

  it("keeps nothing that is larger than all it may keep", async () => {
    const { store, asked } = await cached({ maxBytes: 999 });
    for (let i = 0; i < 2; i++) expect(await store.get("a")).toEqual(bytes(1000));
    expect(asked).toEqual(["get a", "get a"]);
  });

  it("forgets what is written through it, in whatever way", async () => {
    const { store } = await cached();
    const readAll = async () => {
      const values = [];
      for (const key of ["a", "b", "c", "d"]) values.push((await store.get(key))?.length);
      return values;
    };
    expect(await readAll()).toEqual([1000, 1000, 1000, undefined]);
    await store.set("a", bytes(1));
    await store.delete("b");
    const writer = await store.openWriter("c");
    await writer.write(bytes(2));
    expect(await readAll()).toEqual([1, undefined, 1000, undefined]);
    await writer.commit();
    await store.rename?.("a", "d");
    expect(await readAll()).toEqual([undefined, undefined, 2, 1]);
  });

  it("forgets keys that are deleted together", async () => {
    const memory = new MemoryStore();
    const deleteMany = async (keys: readonly string[]) => {
      for (const key of keys) await memory.delete(key);
    };
    const store = withCache(Object.assign(memory, { deleteMany }));
    for (const key of ["a", "b"]) await store.set(key, bytes(1));
    expect(await store.get("b")).toHaveLength(1);
    await store.deleteMany(["a", "b"]);
    expect(await store.get("b")).toBeUndefined();
  });

  it("does not keep what was read while it was written", async () => {
    const inner = new MemoryStore();
    await inner.set("a", bytes(1));
    const waiting: (() => void)[] = [];
    const slow = Object.assign(Object.create(inner) as MemoryStore, {
      set: inner.set.bind(inner),
      async get(...request: Parameters<MemoryStore["get"]>) {
        const value = await inner.get(...request);
        await new Promise<void>((resolve) => waiting.push(resolve));
        return value;
      },
    });
    const store = withCache(slow);
    const hasRead = () => until(() => waiting.length === 1);
    const before = store.get("a");
    await hasRead();
    await store.set("a", bytes(2));
    waiting.shift()?.();
    expect(await before).toHaveLength(1);
    const after = store.get("a");
    await hasRead();
    waiting.shift()?.();
    expect(await after).toHaveLength(2);
  });

  it("does not see what others write", async () => {
    const { store, inner } = await cached();
    await store.get("a");
    await inner.set("a", bytes(1));
    expect(await store.get("a")).toHaveLength(1000);
  });

  it("does not answer what is aborted", async () => {
    const { store } = await cached();
    await store.get("a");
    const reason = new Error("enough");
    await expect(store.get("a", { signal: AbortSignal.abort(reason) })).rejects.toMatchObject({
      code: "aborted",
      cause: reason,
    });
  });

  it("refuses what is no size", () => {
    expect(() => withCache(new MemoryStore(), { maxBytes: "much" })).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  });
});
