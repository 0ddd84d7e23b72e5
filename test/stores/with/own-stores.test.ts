import { FetchStore, FileSystemStore } from "@zarrita/storage";
import { describe, expect, it, onTestFinished } from "vitest";
import { copy, defineStore } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import {
  type GetOptions,
  isWritable,
  type ListableStore,
  type Store,
  type StoreOptions,
  type WritableStore,
} from "../../../src/stores/store.ts";
import { storeChecks } from "../../../src/stores/testing.ts";
import { copySource, withWrappedErrors } from "../../../src/stores/with/wrapped-errors.ts";
import { fromZarrita, toStore, toZarrita, type ZarritaStore } from "../../../src/stores/with/zarrita.ts";
import { given } from "../../support/given.ts";
import { keepsPromises } from "../support.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type Manners, serveValues } from "../value-server.ts";

const folder = temporaryFolder();
const text = (value: string) => new TextEncoder().encode(value);

class NamedDirectory extends DirectoryStore {
  readonly label = "a directory with a label";
}

/** Keeps values in another form, which none but `get` and `set` know. */
class MirroredDirectory extends DirectoryStore {
  override async get(key: string, options?: GetOptions) {
    return (await super.get(key, options))?.reverse();
  }

  override set(key: string, bytes: Uint8Array, options?: StoreOptions) {
    return super.set(key, bytes.slice().reverse(), options);
  }
}

/** As stores of the program come to flows. */
const wrapped = (store: Store) => withWrappedErrors(store) as WritableStore;

describe("a store of the program's", () => {
  it("that extends a class of ours keeps its fast paths", async () => {
    const store = wrapped(new NamedDirectory(folder.next()));
    await store.set("first", text("1"));
    expect(store.setSync?.("a/b", text("value"))).toBe(true);
    const into = new Uint8Array(16);
    expect(store.getSync?.("a/b", { into })).toEqual({ bytes: text("value") });
    expect(into.subarray(0, 5)).toEqual(text("value"));
    const target = wrapped(new NamedDirectory(folder.next()));
    const copyValue = await target.copierFrom?.(copySource(store));
    expect(await copyValue?.({ key: "a/b" }, "c")).toBe(5);
    expect(await target.get("c")).toEqual(text("value"));
  });

  it("loses those that its own methods would be left out of", async () => {
    const mirrored = new MirroredDirectory(folder.next());
    const store = wrapped(mirrored);
    expect(store.getSync).toBeUndefined();
    expect(store.setSync).toBeUndefined();
    expect(store.copierFrom).toBeUndefined();
    expect(await new DirectoryStore(folder.next()).copierFrom(copySource(store))).toBeUndefined();
  });

  it("is copied by its own methods", async () => {
    const a = { chunks: [2], dataType: "int8", values: [1, 2, 3, 4] };
    const mirrored = await given({ at: new MirroredDirectory(folder.next()), arrays: { a } });
    const plain = new DirectoryStore(folder.next());
    await copy(mirrored, plain);
    expect(await plain.get("a/c/1")).toEqual(await mirrored.get("a/c/1"));
    expect(await plain.get("a/zarr.json")).toEqual(await mirrored.get("a/zarr.json"));
  });

  it("keeps fast paths of its own, whose failures are errors of ours", async () => {
    const inner = new MemoryStore();
    const boom = new TypeError("no socket");
    const fail = () => {
      throw boom;
    };
    const {
      get,
      size,
      set,
      delete: remove,
      openWriter,
    } = defineStore({
      get: (key) => inner.get(key),
      set: (key, bytes) => inner.set(key, bytes),
      delete: (key) => inner.delete(key),
    });
    const fast = { getSync: fail, setSync: fail, copierFrom: async () => async () => fail() };
    const own = { description: "own", get, size, set, delete: remove, openWriter, ...fast };
    const store = wrapped(own);
    const details = { store: "own", key: "k" };
    const failure = expect.objectContaining({ code: "transient", cause: boom, details });
    expect(() => store.getSync?.("k")).toThrow(failure);
    expect(() => store.setSync?.("k", new Uint8Array(1))).toThrow(failure);
    const copyValue = await store.copierFrom?.(inner);
    await expect(copyValue?.({ key: "x" }, "k")).rejects.toEqual(failure);
    const refusing = wrapped({ ...own, copierFrom: fail } as Store);
    await expect(refusing.copierFrom?.(inner)).rejects.toMatchObject({ code: "transient", cause: boom });
  });
});

it.each([
  ["no entry", null],
  ["a key that is no string", { key: 5 }],
  ["a size that is no number", { key: "a", size: "5" }],
  ["a size that is none", { key: "a", size: Number.NaN }],
  ["a negative size", { key: "a", size: -1 }],
  ["a size beyond all numbers", { key: "a", size: Number.POSITIVE_INFINITY }],
  ["a prefix where a key should be", { prefix: "a/" }],
])("refuses listings of %s", async (_, entry) => {
  const list = () => new ReadableStream({ start: (controller) => controller.enqueue(entry) });
  const { description, get, size } = defineStore({ description: "mine", get: () => undefined });
  const mine = { description, get, size, list, listDirectory: list } as unknown as ListableStore;
  const store = withWrappedErrors(mine) as ListableStore;
  const fault = { code: "corrupt-store", details: { store: "mine" } };
  await expect(store.list("").getReader().read()).rejects.toMatchObject(fault);
  if (entry !== null && "prefix" in entry) return;
  await expect(store.listDirectory("").getReader().read()).rejects.toMatchObject(fault);
});

it.each(["5", Number.NaN, -1, 1.5, null])("refuses %s as a size", async (size) => {
  const get = async () => undefined;
  const store = withWrappedErrors({ description: "mine", get, size: async () => size as number });
  const details = { store: "mine", key: "a" };
  await expect(store.size("a")).rejects.toMatchObject({ code: "corrupt-store", details });
});

const VALUE = Uint8Array.from({ length: 60 }, (_, i) => i * 3);

const writableFrom = (store: ZarritaStore): WritableStore => {
  const ours = fromZarrita(store);
  if (!isWritable(ours)) throw new Error("cannot be written");
  return ours;
};

describe("a store of zarrita's", () => {
  describe.each<[string, () => ZarritaStore]>([
    ["a Map", () => new Map<string, Uint8Array>()],
    ["its store of files", () => new FileSystemStore(folder.next())],
  ])("%s", (_, make) => {
    // What its store of files gives for a range beyond the end of a value is zeros.
    const checks = storeChecks({ lists: false, empty: async () => writableFrom(make()) });
    for (const { name, run } of checks) if (!/range|part|buffer/i.test(name)) it(name, () => run());
  });

  describe("that is a Map keeps every promise of a store", () => {
    keepsPromises({
      lists: true,
      filled: async (values) => fromZarrita(new Map([...values].map(([key, value]) => [`/${key}`, value]))),
    });
  });

  const serve = async (manners?: Manners) => {
    const server = await serveValues(new Map([["a/0", VALUE]]), manners);
    onTestFinished(() => server.close());
    return server;
  };

  it("is asked for ranges where it has them", async () => {
    const { url, requests } = await serve();
    const store = fromZarrita(new FetchStore(url, { useSuffixRequest: true }));
    expect(store.description).toBe("zarrita FetchStore");
    expect(await store.get("a/0", { range: { offset: 4, length: 4 } })).toEqual(VALUE.slice(4, 8));
    expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(VALUE.slice(-3));
    expect(requests.map(({ headers }) => headers.range)).toEqual(["bytes=4-7", "bytes=-3"]);
  });

  it("is not believed when it gives more than the range", async () => {
    const store = fromZarrita(new FetchStore((await serve({ ignoresRanges: true })).url));
    const short = { code: "short-read", details: { key: "a/0", expected: 4, found: 60 } };
    await expect(store.get("a/0", { range: { offset: 4, length: 4 } })).rejects.toMatchObject(short);
  });

  it("that has no set cannot be written, nor deleted from without delete", async () => {
    expect(isWritable(fromZarrita(new FetchStore("http://127.0.0.1:9/x")))).toBe(false);
    const store = writableFrom({ get: () => undefined, set: () => undefined });
    await expect(store.delete("a")).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it("shares no bytes with those who read from it, nor a Buffer, whose own slice would not be a copy", async () => {
    const map = new Map<string, Uint8Array>();
    const store = writableFrom(map);
    const bytes = Buffer.from([1, 2]);
    await store.set("a", bytes);
    bytes.fill(0);
    (await store.get("a"))?.fill(9);
    expect(map.get("/a")).toEqual(Uint8Array.of(1, 2));
  });
});

describe("a store of ours for zarrita", () => {
  it("takes its keys and ranges, and can be written where ours can", async () => {
    const memory = new MemoryStore();
    const theirs = toZarrita(memory);
    await theirs.set("/a/0", VALUE);
    expect(await memory.get("a/0")).toEqual(VALUE);
    expect(await theirs.get("/a/0")).toEqual(VALUE);
    expect(await theirs.getRange("/a/0", { offset: 4, length: 4 })).toEqual(VALUE.slice(4, 8));
    expect(await theirs.getRange("/a/0", { suffixLength: 3 })).toEqual(VALUE.slice(-3));
    expect(await theirs.get("/none")).toBeUndefined();
    expect(await theirs.getRange("/none", { suffixLength: 3 })).toBeUndefined();
    const { description, get, size } = defineStore({ get: () => VALUE });
    expect("set" in toZarrita({ description, get, size })).toBe(false);
    await expect(theirs.get("/../a")).rejects.toMatchObject({ code: "path-not-allowed" });
  });

  it("is distinguished from one of theirs by its size", () => {
    const memory = new MemoryStore();
    expect(toStore(memory)).toBe(memory);
    expect(toStore(new Map()).description).toBe("zarrita Map");
  });
});
