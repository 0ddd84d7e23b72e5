import { beforeAll, describe, expect, it } from "vitest";
import * as api from "../src/index.ts";
import { MemoryStore } from "../src/stores/memory.ts";
import type { StoreOptions } from "../src/stores/store.ts";
import { drain } from "./support/consume.ts";

type Operation = "get" | "list" | "set";

const BOOM = new TypeError("the driver has no socket");
const shape = { shape: [8], dataType: "int8", chunks: [2], dimensionNames: ["x"] } as const;

/** A store as a program may write one: it throws what it likes, before its promise or in it, at keys that match. */
class OwnStore extends MemoryStore {
  failing:
    | { readonly operation: Operation; readonly at: RegExp; readonly how: "throws" | "rejects" }
    | undefined;

  constructor() {
    super("the store of a program");
  }

  #call<T>(operation: Operation, key: string, run: () => Promise<T>): Promise<T> {
    const { failing } = this;
    if (failing?.operation !== operation || !failing.at.test(key)) return run();
    if (failing.how === "throws") throw BOOM;
    return Promise.reject(BOOM);
  }

  override get(key: string, options?: StoreOptions) {
    return this.#call("get", key, () => super.get(key, options));
  }

  override size(key: string, options?: StoreOptions) {
    return this.#call("get", key, () => super.size(key, options));
  }

  override list(prefix: string, options?: StoreOptions) {
    if (this.failing?.operation === "list") throw BOOM;
    return super.list(prefix, options);
  }

  override listDirectory(prefix: string, options?: StoreOptions) {
    if (this.failing?.operation === "list") throw BOOM;
    return super.listDirectory(prefix, options);
  }

  override set(key: string, bytes: Uint8Array, options?: StoreOptions) {
    return this.#call("set", key, () => super.set(key, bytes, options));
  }

  override openWriter(key: string, options?: StoreOptions) {
    return this.#call("set", key, () => super.openWriter(key, options));
  }
}

async function filled(store: MemoryStore): Promise<MemoryStore> {
  const root = await api.createGroup(store, {});
  const t = await root.create("t", shape);
  await t.write({ x: [0, 8] }, Int8Array.from([1, 2, 3, 4, 5, 6, 7, 8]));
  await t.close();
  await root.close();
  return store;
}

/** What is called, and where each kind of failure hits it; a call that makes no such request is not listed. */
interface Row {
  readonly call: (store: OwnStore, other: MemoryStore) => Promise<unknown>;
  readonly at: Partial<Record<Operation, RegExp>>;
}

const DOCUMENT = /(^|\/)zarr\.json$/;
const CHUNK = /c\/\d+$/;

const rows: Readonly<Record<string, Row>> = {
  open: { call: (store) => api.open(store), at: { get: DOCUMENT } },
  exists: { call: (store) => api.exists(store), at: { get: DOCUMENT } },
  "open by wrap": {
    call: (store, other) => api.open(other, { wrap: () => store }),
    at: { get: DOCUMENT },
  },
  tree: { call: (store) => drain(api.tree(store)), at: { get: DOCUMENT, list: /^/ } },
  info: { call: (store) => drain(api.info(store)), at: { get: DOCUMENT, list: /^/ } },
  walk: {
    call: async (store) => drain(api.walk(await api.openGroup(store))),
    at: { get: /t\/zarr\.json$/, list: /^/ },
  },
  "copy from": {
    call: (store, other) => api.copy(store, other, { ifExists: "replace" }),
    at: { get: CHUNK, list: /^/ },
  },
  "copy to": { call: (store, other) => api.copy(other, store, { ifExists: "replace" }), at: { set: CHUNK } },
  "copy to, documents": {
    call: (store, other) => api.copy(other, store, { ifExists: "replace" }),
    at: { set: DOCUMENT },
  },
  "rechunk from": {
    call: (store) => api.rechunk(store, new MemoryStore(), { chunks: { x: 4 } }),
    at: { get: CHUNK, list: /^/ },
  },
  "rechunk to": {
    call: (store, other) => api.rechunk(other, store, { chunks: { x: 4 }, ifExists: "replace" }),
    at: { set: CHUNK },
  },
  "convert from": {
    call: (store) => api.convert(store, new MemoryStore(), { to: "v2" }),
    at: { get: CHUNK, list: /^/ },
  },
  "convert to": {
    call: (store, other) => api.convert(other, store, { to: "v2", ifExists: "replace" }),
    at: { set: /t\/\d$/ },
  },
  "slice().read": {
    call: async (store) => api.slice(await api.openArray({ store, path: "t" })).read(),
    at: { get: CHUNK },
  },
  "slice().chunks": {
    call: async (store) => drain(api.slice(await api.openArray({ store, path: "t" })).chunks()),
    at: { get: CHUNK },
  },
  "sliceTo from": {
    call: (store) => api.sliceTo(store, new MemoryStore(), { slice: { x: [0, 3] } }),
    at: { get: CHUNK, list: /^/ },
  },
  digest: { call: (store) => drain(api.digest(store)), at: { get: CHUNK, list: /^/ } },
  "diff, left": { call: (store, other) => drain(api.diff(store, other)), at: { get: CHUNK, list: /^/ } },
  "diff, right": { call: (store, other) => drain(api.diff(other, store)), at: { get: CHUNK, list: /^/ } },
  validate: {
    call: (store) => drain(api.validate(store, { deep: true })),
    at: { get: DOCUMENT, list: /^/ },
  },
  "create, write": {
    call: async (store) => {
      const writer = await api.create({ store, path: "u" }, shape);
      await writer.write({ x: [0, 8] }, new Int8Array(8).fill(1));
      await writer.close();
    },
    at: { get: DOCUMENT, set: CHUNK },
  },
  createGroup: {
    call: async (store) => (await api.createGroup({ store, path: "g" }, {})).close(),
    at: { set: DOCUMENT },
  },
  writeRegion: {
    call: async (store) =>
      api.writeRegion(await api.openArray({ store, path: "t" }), { x: [0, 1] }, Int8Array.of(9)),
    at: { get: CHUNK, set: CHUNK },
  },
  setAttributes: {
    call: async (store) => api.setAttributes(await api.openArray({ store, path: "t" }), { a: 1 }),
    at: { set: DOCUMENT },
  },
};

const cases = Object.entries(rows).flatMap(([name, { call, at }]) =>
  Object.entries(at).flatMap(([operation, keys]) =>
    (operation === "list" ? (["throws"] as const) : (["throws", "rejects"] as const)).map((how) => ({
      name,
      operation: operation as Operation,
      keys,
      how,
      call,
    })),
  ),
);

describe("a store of the program's that fails with errors of its own", () => {
  let other: MemoryStore;

  beforeAll(async () => {
    other = await filled(new MemoryStore());
  });

  it.each(cases)("$name: $operation $how", async ({ operation, keys, how, call }) => {
    const store = (await filled(new OwnStore())) as OwnStore;
    store.failing = { operation, at: keys, how };
    const error: unknown = await call(store, await filled(new MemoryStore())).then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(api.ZarrflowError);
    expect(error).toMatchObject({
      code: "transient",
      exitCode: 5,
      cause: BOOM,
      details: { store: expect.stringContaining("the store of a program") },
    });
    if (operation !== "list") expect((error as api.ZarrflowError).details.key).toMatch(keys);
  });

  it("keeps the codes of system errors, and errors of ours as they are", async () => {
    const full = Object.assign(new Error("disk"), { code: "ENOSPC", syscall: "write" });
    const ours = new api.ZarrflowError("access-denied", "no key to that door");
    for (const [thrown, code] of [
      [full, "no-space"],
      [ours, "access-denied"],
    ] as const) {
      const store = new MemoryStore();
      const failing = Object.assign(Object.create(null), {
        description: "own",
        get: (key: string) => store.get(key),
        size: (key: string) => store.size(key),
        set: () => Promise.reject(thrown),
        openWriter: () => Promise.reject(thrown),
        delete: (key: string) => store.delete(key),
      });
      await expect(api.copy(other, failing)).rejects.toMatchObject({ code });
    }
  });

  it("reports values that are no bytes", async () => {
    const store = { description: "own", get: async () => null, size: async () => 3 };
    await expect(api.open(store as never)).rejects.toMatchObject({
      code: "corrupt-store",
      details: { found: "null" },
    });
  });

  it("reports what zarrita's stores, too", async () => {
    const get = () => {
      throw BOOM;
    };
    await expect(api.open({ get })).rejects.toMatchObject({ code: "transient", cause: BOOM });
  });
});
