import { beforeAll, describe, expect, it } from "vitest";
import * as api from "../src/index.ts";
import { MemoryStore } from "../src/stores/memory.ts";
import type { StoreOptions } from "../src/stores/store.ts";
import { drain } from "./support/consume.ts";
import { given } from "./support/given.ts";

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

const filled = <T extends MemoryStore>(at: T): Promise<T> =>
  given({ at, arrays: { t: { ...shape, values: (i) => i + 1 } } });

const DOCUMENT = /(^|\/)zarr\.json$/;
const CHUNK = /c\/\d+$/;
const LISTED = { list: /^/ };
const READ = { get: CHUNK, ...LISTED };

type Call = (store: OwnStore, other: MemoryStore) => Promise<unknown>;

const replaced = { ifExists: "replace" } as const;
const [chunks, to] = [{ x: 4 }, "v2"] as const;
const t = (store: MemoryStore) => api.openArray({ store, path: "t" });

/** What is called, and where each kind of failure hits it; a call that makes no such request is not listed. */
const rows: readonly [string, Call, Partial<Record<Operation, RegExp>>][] = [
  ["open", (store) => api.open(store), { get: DOCUMENT }],
  ["exists", (store) => api.exists(store), { get: DOCUMENT }],
  ["open by wrap", (store, other) => api.open(other, { wrap: () => store }), { get: DOCUMENT }],
  ["tree", (store) => drain(api.tree(store)), { get: DOCUMENT, ...LISTED }],
  ["info", (store) => drain(api.info(store)), { get: DOCUMENT, ...LISTED }],
  [
    "walk",
    async (store) => drain(api.walk(await api.openGroup(store))),
    { get: /t\/zarr\.json$/, ...LISTED },
  ],
  ["copy from", (store, other) => api.copy(store, other, replaced), READ],
  ["copy to", (store, other) => api.copy(other, store, replaced), { set: CHUNK }],
  ["copy to, documents", (store, other) => api.copy(other, store, replaced), { set: DOCUMENT }],
  ["rechunk from", (store) => api.rechunk(store, new MemoryStore(), { chunks }), READ],
  ["rechunk to", (store, other) => api.rechunk(other, store, { chunks, ...replaced }), { set: CHUNK }],
  ["convert from", (store) => api.convert(store, new MemoryStore(), { to }), READ],
  ["convert to", (store, other) => api.convert(other, store, { to, ...replaced }), { set: /t\/\d$/ }],
  ["slice().read", async (store) => api.slice(await t(store)).read(), { get: CHUNK }],
  ["slice().chunks", async (store) => drain(api.slice(await t(store)).chunks()), { get: CHUNK }],
  ["sliceTo from", (store) => api.sliceTo(store, new MemoryStore(), { slice: { x: [0, 3] } }), READ],
  ["digest", (store) => drain(api.digest(store)), READ],
  ["diff, left", (store, other) => drain(api.diff(store, other)), READ],
  ["diff, right", (store, other) => drain(api.diff(other, store)), READ],
  ["validate", (store) => drain(api.validate(store, { deep: true })), { get: DOCUMENT, ...LISTED }],
  [
    "create, write",
    async (store) => {
      const writer = await api.create({ store, path: "u" }, shape);
      await writer.write({ x: [0, 8] }, new Int8Array(8).fill(1));
      await writer.close();
    },
    { get: DOCUMENT, set: CHUNK },
  ],
  [
    "createGroup",
    async (store) => (await api.createGroup({ store, path: "g" }, {})).close(),
    { set: DOCUMENT },
  ],
  [
    "writeRegion",
    async (store) => api.writeRegion(await t(store), { x: [0, 1] }, Int8Array.of(9)),
    { get: CHUNK, set: CHUNK },
  ],
  ["setAttributes", async (store) => api.setAttributes(await t(store), { a: 1 }), { set: DOCUMENT }],
];

const cases = rows.flatMap(([name, call, at]) =>
  Object.entries(at).flatMap(([operation, keys]) =>
    (operation === "list" ? (["throws"] as const) : (["throws", "rejects"] as const)).map((how) => {
      return { name, operation: operation as Operation, keys, how, call };
    }),
  ),
);

describe("a store of the program's that fails with errors of its own", () => {
  let other: MemoryStore;

  beforeAll(async () => {
    other = await filled(new MemoryStore());
  });

  it.each(cases)("$name: $operation $how", async ({ operation, keys, how, call }) => {
    const store = await filled(new OwnStore());
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

  it("reports values that are no bytes, and what stores of zarrita throw", async () => {
    const store = { description: "own", get: async () => null, size: async () => 3 };
    const found = { code: "corrupt-store", details: { found: "null" } };
    await expect(api.open(store as never)).rejects.toMatchObject(found);
    const get = () => {
      throw BOOM;
    };
    await expect(api.open({ get })).rejects.toMatchObject({ code: "transient", cause: BOOM });
  });
});
