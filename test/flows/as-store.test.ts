// @module-tag slow
// @module-tag sampled
import fc from "fast-check";
import { describe, expect, it, test, vi } from "vitest";
import { type AsStoreOptions, asStore, copy } from "../../src/flows/index.ts";
import { open, openGroup, walk } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { isListable, type Store } from "../../src/stores/store.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { compareUtf8 } from "../../src/util/names.ts";
import { product } from "../../src/util/shape.ts";
import { all, digestsOf, keysOf, valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { makeArray } from "../support/made-array.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { rechunked } from "../support/recipes.ts";
import { samples } from "../support/samples.ts";

/** All keys of a store as listed, with their values. */
const contentsOf = async (store: Store) => [...(await valuesIn(store))];

/** What is written of a source, whole, and copied from `asStore`, is the same, and so is what that lists. */
async function expectSame(source: Store, changes: AsStoreOptions): Promise<MemoryStore> {
  const [whole, copied] = [new MemoryStore("whole"), new MemoryStore("copied")];
  await copy(source, whole, { ...changes, maxMemory: "64MB" });
  const store = await asStore(source, changes);
  const expected = await contentsOf(whole);
  expect(await contentsOf(store)).toEqual(expected);
  await copy(store, copied);
  expect(await contentsOf(copied)).toEqual(expected);
  await expectLevels(store, whole);
  await store.close?.();
  return whole;
}

/** Both list the same one level below each prefix. */
async function expectLevels(store: Store, other: MemoryStore): Promise<void> {
  if (!isListable(store)) throw new Error("the store cannot be listed");
  const prefixes = [""];
  for (let prefix = prefixes.pop(); prefix !== undefined; prefix = prefixes.pop()) {
    const levels = [store, other].map(async (one) => {
      const entries = await all(one.listDirectory(prefix ?? ""));
      return entries.map((entry) => ("prefix" in entry ? entry.prefix : entry.key));
    });
    const [found, expected = []] = await Promise.all(levels);
    expect(found).toEqual(expected);
    prefixes.push(...expected.filter((name) => name.endsWith("/")));
  }
}

const CHANGES: Record<string, AsStoreOptions> = {
  nothing: {},
  "other chunks": { chunks: "*/t2m:3,2" },
  "chunks of one array": { chunks: "2023/t2m:4,1" },
  "shards and v3": { chunks: "*/*:2,2", shards: "*/*:4,4", to: "v3" },
  "another codec": { codec: "zstd:3" },
  v3: { to: "v3" },
  v2: { to: "v2" },
  "without one name": { exclude: ["u10", "notes.txt"] },
  "one group": { include: ["2024"], codec: "gzip" },
  "within little memory": { chunks: "*/*:4,1", maxMemory: 200_000 },
  "chunks of fill values": { chunks: "*/*:3,2", writeEmptyChunks: true },
};

/** An array of `rows` chunks of a row each. */
const rowsOf = async (rows: number) => {
  const grid = { shape: [rows, rows], chunks: [1, rows], order: "C", itemSize: 4 } as const;
  return (await makeArray({ ...grid, missing: 0, seed: 1 })).store;
};

/** A store, and the keys of chunks that are read from it. */
function logged(store: Store) {
  const read: string[] = [];
  const source = withRequestLog(store, ({ key, operation }) => {
    if (operation === "get" && key !== undefined && /^\d/.test(key)) read.push(key);
  });
  return { source, read };
}

describe("asStore", () => {
  describe.each(["v2", "v3"] as const)("of a hierarchy of %s", (zarrFormat) => {
    it.each(Object.entries(CHANGES))("is what copy writes: %s", async (_, changes) => {
      const source = await makeHierarchy(zarrFormat, { consolidated: zarrFormat === "v2" });
      await source.delete(zarrFormat === "v2" ? "2024/t2m/1.0" : "2024/t2m/c/1/0");
      await expectSame(source, changes);
    });

    it("is what sliceTo writes", async () => {
      const values = (i: number) => (i % 9 < 6 ? 0 : i);
      const array = { dataType: "float32", shape: [8, 6], chunks: [3, 4], values };
      const along = (...dimensionNames: string[]) => ({ ...array, dimensionNames });
      const arrays = { a: along("time", "x"), b: along("time", "y") };
      const source = await given({ zarrFormat, attributes: {}, arrays });
      await expectSame(source, { slice: "time=2:7:2,x=1:" });
      await expectSame(source, { slice: "x=3", chunks: "time=1", codec: "none" });
    });

    it("gives groups that arrays imply a document, with `consolidated`", async () => {
      const b = { shape: [4], chunks: [2], dataType: "int8", values: [1, 2, 3, 4] };
      const source = await given({ zarrFormat, arrays: { "a/b": b } });
      await source.delete(zarrFormat === "v2" ? "a/.zgroup" : "a/zarr.json");
      const store = await asStore(source, { consolidated: true });
      const [get, size] = [store.get.bind(store), store.size.bind(store)];
      const unlisted: Store = { description: "no list", get, size };
      expect((await all(walk(await openGroup(unlisted)))).map(({ path }) => path)).toEqual(["a", "a/b"]);
      expect((await open({ store: unlisted, path: "a" })).kind).toBe("group");
      await store.close?.();
    });
  });

  it("is a part of a store, a node of it", async () => {
    const node = await open({ store: await makeHierarchy("v3"), path: "2024" });
    const whole = new MemoryStore();
    await copy(node, whole, { chunks: "*:4,1" });
    expect(await contentsOf(await asStore(node, { chunks: "*:4,1" }))).toEqual(await contentsOf(whole));
  });

  test("equals what a rechunk writes, whatever the arrays, chunks and budget", async () => {
    const budgets = fc.constantFrom(0, 20_000, 1e6);
    await fc.assert(
      fc.asyncProperty(
        rechunked,
        budgets,
        fc.boolean(),
        async ({ recipe, chunks }, spare, writeEmptyChunks) => {
          const { store: source } = await makeArray(recipe);
          const items = product(recipe.chunks) + product(chunks);
          const maxMemory = 16 * recipe.itemSize * items + 200_000 + spare;
          const whole = await expectSame(source, { chunks, maxMemory, writeEmptyChunks });
          const store = await asStore(source, { chunks, maxMemory });
          expect(await digestsOf(store)).toEqual(await digestsOf(whole));
        },
      ),
      { numRuns: samples(30) },
    );
  });

  it("lists keys in the order of their bytes", async () => {
    const keys = await keysOf(await asStore(await rowsOf(23), { chunks: "1,1" }));
    expect(keys).toHaveLength(1 + 23 * 23);
    expect(keys).toEqual(keys.toSorted(compareUtf8));
  });

  it("reads each source chunk once, when all chunks are read in order within the budget", async () => {
    const { source, read } = logged(await rowsOf(64));
    const changed = await asStore(source, { chunks: "64,1" });
    for (let i = 0; i < 64; i++) expect(await changed.get(`0.${i}`)).toHaveLength(256);
    expect(read).toHaveLength(64);
  });

  it("runs a task once for all who wait for it, and for those that stay when one goes", async () => {
    const { source, read } = logged(await rowsOf(8));
    const changed = await asStore(source, { chunks: "8,1" });
    const abort = new AbortController();
    const gone = changed.get("0.0", { signal: abort.signal });
    const others = [1, 2, 3].map((i) => changed.get(`0.${i}`));
    abort.abort();
    await expect(gone).rejects.toMatchObject({ code: "aborted" });
    for (const bytes of await Promise.all(others)) expect(bytes).toHaveLength(32);
    expect(read).toHaveLength(8);
    const alone = new AbortController();
    const again = await asStore(source, { chunks: "8,2" });
    const ended = again.get("0.0", { signal: alone.signal });
    alone.abort();
    await expect(ended).rejects.toMatchObject({ code: "aborted" });
    expect(await again.get("0.0")).toHaveLength(64);
  });

  it("gives ranges, sizes and versions", async () => {
    const store = await asStore(await rowsOf(8), { chunks: "8,1" });
    const whole = await store.get("0.3");
    let version = "";
    const onVersion = (found: string) => {
      version = found;
    };
    expect(await store.size("0.3", { onVersion })).toBe(32);
    expect(await store.get("0.3", { range: { suffix: 5 }, ifVersion: version })).toEqual(whole?.slice(-5));
    expect(await store.get("0.3", { range: { offset: 2, length: 3 } })).toEqual(whole?.slice(2, 5));
    const other = store.get("0.3", { ifVersion: "another" });
    await expect(other).rejects.toMatchObject({ code: "source-changed" });
    for (const key of ["0.8", "1.0", "0", "9.9", "t2m/.zarray"]) expect(await store.get(key)).toBeUndefined();
    for (const key of ["../0.0", "a/../0.0", "/0.0", "a\0"])
      await expect(store.get(key)).rejects.toMatchObject({ code: "path-not-allowed" });
  });

  it("says which budget its shards need", async () => {
    const grid = { shape: [64, 64], chunks: [8, 64], order: "C", itemSize: 1024 } as const;
    const { store: source } = await makeArray({ ...grid, missing: 0, seed: 1 });
    const changes = { to: "v3", chunks: "8,8", shards: "64,64" } as const;
    const error = await asStore(source, { ...changes, maxMemory: "14MB" }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "budget-too-small" });
    const store = await asStore(source, { ...changes, maxMemory: error.details.neededBytes });
    expect(await store.size("c/0/0")).toBeGreaterThan(64 * 64 * 1024);
  });

  it("gives the failure of a task to all who wait, and tries again", async () => {
    const source = await rowsOf(8);
    const get = vi.spyOn(source, "get");
    const changed = await asStore(source, { chunks: "8,1" });
    get.mockRejectedValueOnce(new Error("unreachable"));
    const both = await Promise.allSettled([changed.get("0.0"), changed.get("0.1")]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await changed.get("0.0")).toHaveLength(32);
  });
});
