import { setImmediate } from "node:timers/promises";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { copy, defineStore } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/stores/define-store.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { isListable, isWritable, type KeyEntry, type ListedEntry } from "../../src/stores/store.ts";
import type { StoreHarness } from "../../src/stores/testing.ts";
import { toStore } from "../../src/stores/with/zarrita.ts";
import { all, itemsOf, keysOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { allReject, keepsPromises } from "./support.ts";
import { serveValues } from "./value-server.ts";

const VALUE = Uint8Array.from({ length: 100 }, (_, i) => i);

/** A store over a `Map`, whose values it gives and keeps as they are. */
const overMap = (values = new Map<string, Uint8Array>()) =>
  defineStore({
    get: (key) => values.get(key),
    set: (key, bytes) => values.set(key, bytes),
    delete: (key) => values.delete(key),
    list: () => values.keys(),
  });

/** A web server with some values, to the end of the test; its URL. */
const serve = async (values: ReadonlyMap<string, Uint8Array>) => {
  const server = await serveValues(values);
  onTestFinished(() => server.close());
  return server.url;
};

/** A read-only store over a web server. */
const overFetch = (url: string) => {
  const ask = async (key: string, headers: Record<string, string>, signal: AbortSignal | undefined) => {
    const response = await fetch(`${url}/${encodeURIComponent(key)}`, { headers, signal: signal ?? null });
    if (response.status === 416) return new Uint8Array();
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  };
  return defineStore({
    description: url,
    get: (key, { signal }) => ask(key, {}, signal),
    getRange(key, range, { signal }) {
      const last = "suffix" in range || !range.length ? "" : range.offset + range.length - 1;
      const bytes = "suffix" in range ? `-${range.suffix}` : `${range.offset}-${last}`;
      return ask(key, { range: `bytes=${bytes}` }, signal);
    },
  });
};

/** A read-only store whose listings of one level are its own. */
const overLevels = (values: ReadonlyMap<string, Uint8Array>) => {
  const below = (prefix: string) => [...values].filter(([key]) => key.startsWith(prefix));
  return defineStore({
    get: (key) => values.get(key),
    async *list(prefix) {
      for (const [key, { length: size }] of below(prefix)) yield { key, size };
    },
    async *listDirectory(prefix): AsyncGenerator<ListedEntry> {
      for (const [key] of below(prefix)) {
        const slash = key.indexOf("/", prefix.length);
        yield slash < 0 ? { key } : { prefix: key.slice(0, slash + 1) };
      }
    },
  });
};

describe.each<[string, StoreHarness]>([
  ["in memory, ours", { lists: true, empty: async () => new MemoryStore() }],
  ["defined over a Map", { lists: true, empty: async () => overMap() }],
  [
    "defined read only",
    {
      lists: true,
      filled: async (values) =>
        defineStore({ get: async (key) => values.get(key), list: async () => [...values.keys()].reverse() }),
    },
  ],
  [
    "defined without listings",
    {
      lists: false,
      filled: async (values) =>
        defineStore({ get: (key) => values.get(key), size: (key) => values.get(key)?.length }),
    },
  ],
  ["defined with a listing of one level", { lists: true, filled: async (values) => overLevels(values) }],
  ["defined over fetch", { lists: false, filled: async (values) => overFetch(await serve(values)) }],
])("a store %s", (_, harness) => {
  keepsPromises(harness);
});

it("a store in memory copies a Buffer, whose own slice would not", async () => {
  const store = new MemoryStore();
  const bytes = Buffer.from([1, 2, 3]);
  await store.set("a", bytes);
  const writer = await store.openWriter("b");
  await writer.write(bytes);
  bytes.fill(0);
  await writer.commit();
  for (const key of ["a", "b"]) expect(await store.get(key)).toEqual(new Uint8Array([1, 2, 3]));
});

describe("defineStore", () => {
  it("uses what is given: ranges, sizes, listings, writers, and the rest", async () => {
    const calls: string[] = [];
    const noted = (...call: unknown[]) => void calls.push(call.join(" "));
    const written: Uint8Array[] = [];
    const nothing = async () => {};
    const store = defineStore({
      description: "noted",
      get: () => VALUE,
      getRange: (key, range, { maxBytes }) => {
        noted("getRange", key, JSON.stringify(range), maxBytes);
        return VALUE.subarray(1, 3);
      },
      size(key, { onVersion }) {
        onVersion?.("v1");
        noted("size", key);
        return 100;
      },
      list: () => [],
      listDirectory(prefix) {
        noted("listDirectory", prefix);
        return [`${prefix}b/`, `${prefix}a`];
      },
      set: nothing,
      delete: nothing,
      openWriter: async () => ({
        write: async (bytes) => void written.push(bytes),
        commit: nothing,
        abort: nothing,
      }),
      setIfAbsent: async () => false,
      deleteMany: async (keys) => noted("deleteMany", keys),
      rename: async (from, to) => noted("rename", from, to),
      version: async () => "whole",
      ageOf: async () => 7,
      close: async () => noted("close"),
      singleWriter: true,
    });
    const range = { offset: 1, length: 2 };
    expect(await store.get("a", { range, maxBytes: 9 })).toEqual(VALUE.slice(1, 3));
    const onVersion = vi.fn();
    expect(await store.size("a", { onVersion })).toBe(100);
    expect(onVersion).toHaveBeenCalledWith("v1");
    expect(await store.get("a", { range: { suffix: 0 } })).toEqual(new Uint8Array());
    expect(await all(store.listDirectory("x/"))).toEqual([{ key: "x/a" }, { prefix: "x/b/" }]);
    await (await store.openWriter("a")).write(VALUE);
    expect(written).toEqual([VALUE]);
    expect(await store.setIfAbsent?.("a", VALUE)).toBe(false);
    await store.deleteMany?.(["a", "b"]);
    await store.rename?.("a", "b");
    expect([await store.version?.(), await store.ageOf?.("a")]).toEqual(["whole", 7]);
    expect([store.description, store.singleWriter]).toEqual(["noted", true]);
    await store.close?.();
    const listed = ["listDirectory x/", "deleteMany a,b", "rename a b", "close"];
    expect(calls).toEqual([`getRange a ${JSON.stringify(range)} 9`, "size a", "size a", ...listed]);
  });

  it("is listable and writable where it can be", () => {
    const list = { list: () => [] };
    const change = { set: () => {}, delete: () => {} };
    for (const [parts, expected] of [
      [{}, [false, false]],
      [list, [true, false]],
      [change, [false, true]],
      [{ ...list, ...change }, [true, true]],
    ] as const) {
      const store = defineStore({ get: () => undefined, ...parts });
      expect([isListable(store), isWritable(store)]).toEqual(expected);
    }
  });

  it("gives an author keys that are checked, and bytes that nobody else has", async () => {
    const seen: string[] = [];
    const kept = new Map<string, Uint8Array>();
    const noted = <T>(key: string, result: T): T => {
      seen.push(key);
      return result;
    };
    const store = defineStore({
      get: (key) => noted(key, kept.get(key)),
      set: (key, bytes) => noted(key, kept.set(key, bytes)),
      delete: (key) => noted(key, undefined),
      list: (prefix) => noted(prefix, []),
      rename: async (from) => noted(from, undefined),
      deleteMany: async ([key = ""]) => noted(key, undefined),
      setIfAbsent: async (key) => noted(key, true),
    });
    for (const key of ["../etc/passwd", "/a", "a//b", "a\\..\\b", "a/%2e/..", "\0", "a/"]) {
      const calls = [
        store.get(key),
        store.size(key),
        store.set(key, VALUE),
        store.delete(key),
        store.openWriter(key),
        store.rename?.("a", key.replace(/\/$/, "//")),
        store.deleteMany?.(["a", key]),
        store.setIfAbsent?.(key, VALUE),
      ];
      await allReject(
        calls.map(async (call) => call),
        { code: "path-not-allowed" },
      );
    }
    expect(() => store.list("../")).toThrow("must not have the segment `..`");
    expect(seen).toEqual([]);
    const bytes = Buffer.from([1, 2, 3]);
    await store.set("a", bytes);
    bytes.fill(0);
    (await store.get("a"))?.fill(9);
    expect(kept.get("a")).toEqual(new Uint8Array([1, 2, 3]));
  });

  it("refuses more bytes than the range has", async () => {
    const store = defineStore({ description: "mine", get: () => VALUE, getRange: () => VALUE });
    const short = { code: "short-read", details: { key: "a", expected: 3, found: 100 } };
    await expect(store.get("a", { range: { offset: 2, length: 3 } })).rejects.toMatchObject(short);
    await expect(store.get("a", { range: { suffix: 3 } })).rejects.toMatchObject({ code: "short-read" });
  });

  it.each([["/a"], ["a//b"], ["../a"], [""], [7], [null], [{ key: 7 }], [{}]])(
    "refuses to list %j",
    async (entry) => {
      const list = () => [entry as string];
      const store = defineStore({ description: "mine", get: () => undefined, list });
      const details = { store: "mine", hint: expect.stringMatching(/relative/) };
      await expect(keysOf(store)).rejects.toMatchObject({ code: "corrupt-store", details });
    },
  );

  it("lists keys once, sorted, with sizes, and neither what is elsewhere nor folders", async () => {
    const entries: (KeyEntry | string)[] = ["b/2", { key: "b/1", size: 4 }, "b/2", "a", "b/", "b/c/", "bb/1"];
    const store = defineStore({ get: () => undefined, list: () => entries });
    expect(await all(store.list("b/"))).toEqual([{ key: "b/1", size: 4 }, { key: "b/2" }]);
    expect(await all(store.listDirectory(""))).toEqual([{ key: "a" }, { prefix: "b/" }, { prefix: "bb/" }]);
  });

  it("lists no folders in which no key lies, unless a listing of one level gives them", async () => {
    const derived = { get: () => undefined, list: () => ["a", "b/", "c/", "c/1", "d/e/"] };
    const own = { ...derived, listDirectory: () => ["a", "b/"] };
    expect(await all(defineStore(derived).listDirectory(""))).toEqual([{ key: "a" }, { prefix: "c/" }]);
    expect(await all(defineStore(own).listDirectory(""))).toEqual([{ key: "a" }, { prefix: "b/" }]);
  });

  it("takes no buffer of the caller once it is aborted", async () => {
    let answer: (bytes: Uint8Array) => void = () => {};
    const answered = new Promise<Uint8Array>((resolve) => {
      answer = resolve;
    });
    const allocate = vi.fn((length: number) => new Uint8Array(length));
    const controller = new AbortController();
    const store = defineStore({ get: () => answered });
    const read = store.get("a", { signal: controller.signal, allocate });
    controller.abort();
    await expect(read).rejects.toMatchObject({ code: "aborted" });
    answer(VALUE);
    await setImmediate();
    expect(allocate).not.toHaveBeenCalled();
  });

  it("does not wait for a call that ignores the signal", async () => {
    const never = new Promise<undefined>(() => {});
    const store = defineStore({ get: () => never, list: () => never as never });
    const controller = new AbortController();
    const { signal } = controller;
    const calls = [store.get("a", { signal }), store.size("a", { signal }), all(store.list("", { signal }))];
    const aborted = allReject(calls, { code: "aborted", cause: "enough" });
    controller.abort("enough");
    await aborted;
  });

  it.each<[object, RegExp]>([
    [{}, /invalid value for the member `get` \(expected a function, found undefined\)/],
    [{ get: 1 }, /`get`/],
    [{ get: () => VALUE, size: 4 }, /`size`.*a function/],
    [{ get: () => VALUE, description: 4 }, /`description`.*a string/],
    [{ get: () => VALUE, lst: () => [] }, /unknown member `lst`/],
    [{ get: () => VALUE, set: () => {} }, /`set` has no effect without `delete`/],
    [{ get: () => VALUE, delete: () => {} }, /`delete` has no effect without `set`/],
    [{ get: () => VALUE, listDirectory: () => [] }, /`listDirectory` has no effect without `list`/],
    [{ get: () => VALUE, rename: () => {} }, /`rename` has no effect without `set`/],
    [new Map(), /`size`|`get`/],
  ])("refuses %o", (definition, message) => {
    const define = () => defineStore(definition as StoreDefinition);
    expect(define).toThrow(expect.objectContaining({ code: "invalid-option" }));
    expect(define).toThrow(message);
  });
});

describe("arrays in defined stores", () => {
  const values = new Map<string, Uint8Array>();
  beforeAll(async () => {
    const array = { shape: [20, 20], chunks: [5, 5], dataType: "int16" };
    await copy(await given({ zarrFormat: "v2", ...array }), overMap(values));
  });

  it("are copied to one, and read from another", async () => {
    expect(values.size).toBe(17);
    expect(await itemsOf(overFetch(await serve(values)), "")).toEqual(
      Array.from({ length: 400 }, (_, i) => i),
    );
  });

  it("fail with what the author threw as cause, the store and the key", async () => {
    const failure = new Error("the database is away");
    const get = (key: string) => {
      if (/^\d/.test(key)) throw failure;
      return values.get(key);
    };
    const read = itemsOf(defineStore({ description: "database", get }), "");
    await expect(read).rejects.toMatchObject({ code: "transient", details: { store: "database" } });
    await expect(read).rejects.toHaveProperty("cause", failure);
  });

  it("fail where the author gives no bytes", async () => {
    const store = defineStore({ get: () => new ArrayBuffer(4) as never });
    const details = { hint: expect.stringMatching(/Uint8Array/) };
    await expect(itemsOf(store, "")).rejects.toMatchObject({ code: "corrupt-store", details });
    await expect(toStore(store).size("0.0")).rejects.toMatchObject({ code: "corrupt-store" });
  });
});
