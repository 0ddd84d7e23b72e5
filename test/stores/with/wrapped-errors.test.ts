import { describe, expect, it } from "vitest";
import { copy } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type {
  GetOptions,
  ListableStore,
  Store,
  StoreOptions,
  WritableStore,
} from "../../../src/stores/store.ts";
import { copySource, withWrappedErrors } from "../../../src/stores/with/wrapped-errors.ts";
import { given } from "../../support/given.ts";
import { temporaryFolder } from "../temporary-folder.ts";

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
    const own = Object.assign(Object.create(null), {
      description: "own",
      get: (key: string) => inner.get(key),
      size: (key: string) => inner.size(key),
      set: (key: string, bytes: Uint8Array) => inner.set(key, bytes),
      delete: (key: string) => inner.delete(key),
      openWriter: (key: string) => inner.openWriter(key),
      getSync: fail,
      setSync: fail,
      copierFrom: async () => async () => fail(),
    });
    const store = wrapped(own);
    const failure = expect.objectContaining({
      code: "transient",
      cause: boom,
      details: { store: "own", key: "k" },
    });
    expect(() => store.getSync?.("k")).toThrow(failure);
    expect(() => store.setSync?.("k", new Uint8Array(1))).toThrow(failure);
    const copyValue = await store.copierFrom?.(inner);
    await expect(copyValue?.({ key: "x" }, "k")).rejects.toEqual(failure);
    const refusing = wrapped({ ...own, copierFrom: fail } as WritableStore);
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
  const listing = () => new ReadableStream({ start: (controller) => controller.enqueue(entry) });
  const inner = new MemoryStore("mine");
  const store = withWrappedErrors({
    description: "mine",
    get: inner.get.bind(inner),
    size: inner.size.bind(inner),
    list: listing,
    listDirectory: () => listing(),
  } as unknown as ListableStore) as ListableStore;
  const fault = { code: "corrupt-store", details: { store: "mine" } };
  await expect(store.list("").getReader().read()).rejects.toMatchObject(fault);
  if (entry !== null && "prefix" in entry) return;
  await expect(store.listDirectory("").getReader().read()).rejects.toMatchObject(fault);
});

it.each(["5", Number.NaN, -1, 1.5, null])("refuses %s as a size", async (size) => {
  const store = withWrappedErrors({
    description: "mine",
    get: async () => undefined,
    size: async () => size as number,
  });
  await expect(store.size("a")).rejects.toMatchObject({
    code: "corrupt-store",
    details: { store: "mine", key: "a" },
  });
});
