import { describe, expect, test } from "vitest";
import { publishDocuments } from "../../../src/flows/run/documents.ts";
import { formatNamed } from "../../../src/meta/formats.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { StoreOptions } from "../../../src/stores/store.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";

/** A store whose writes end in a later turn, and that tells how they lay in time. */
class SlowStore extends MemoryStore {
  readonly ended: string[] = [];
  /** For each key, those that were written before it was begun. */
  readonly before = new Map<string, readonly string[]>();
  most = 0;
  #running = 0;

  override async set(key: string, bytes: Uint8Array, options?: StoreOptions): Promise<void> {
    this.before.set(key, [...this.ended]);
    this.most = Math.max(this.most, ++this.#running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    await super.set(key, bytes, options);
    this.#running--;
    this.ended.push(key);
  }
}

const { hierarchy: v2 } = formatNamed("v2").layout("");

async function publish(
  keys: readonly string[],
  { concurrency = 4, store = new SlowStore(), hierarchy = v2 } = {},
) {
  const written: string[] = [];
  const documents = new Map(keys.map((key) => [key, new TextEncoder().encode(key)]));
  const onWritten = (key: string) => written.push(key);
  await publishDocuments(documents, store, { concurrency, hierarchy, onWritten });
  expect(written.sort()).toEqual([...keys].sort());
  return store;
}

describe("publishing documents", () => {
  test("writes arrays side by side, never more than asked for at a time", async () => {
    const arrays = Array.from({ length: 20 }, (_, i) => [`a${i}/.zattrs`, `a${i}/.zarray`]).flat();
    const { most } = await publish([...arrays, ".zgroup"], { concurrency: 4 });
    expect(most).toBe(4);
  });

  test("writes attributes first, a node's documents in their order, groups after what is in them, what gathers all last", async () => {
    const keys = "g/a/.zattrs g/a/.zarray b/.zarray g/.zattrs g/.zgroup .zgroup .zmetadata".split(" ");
    const { before } = await publish(keys, { concurrency: 16 });
    expect(before.get("g/a/.zarray")).toEqual(expect.arrayContaining(["g/a/.zattrs", "g/.zattrs"]));
    expect(before.get("g/.zgroup")).toEqual(expect.arrayContaining(["g/a/.zarray", "g/.zattrs"]));
    expect(before.get(".zgroup")).toEqual(expect.arrayContaining(keys.slice(0, 5)));
    expect(before.get(".zmetadata")).toHaveLength(6);
  });

  test("writes what a draft's nodes share before them", async () => {
    const layoutOf = (path: string) => formatNamed("v3-draft-2019").layout(path);
    const { hierarchy } = layoutOf("");
    const keys = ["zarr.json", ...["a", "b"].flatMap((path) => layoutOf(path).documentKeys)];
    const { before } = await publish(keys, { hierarchy });
    expect(before.get("zarr.json")).toEqual([]);
    for (const key of keys.slice(1)) expect(before.get(key)).toContain("zarr.json");
  });

  test("ends with the first failure, and writes no document after it", async () => {
    const failure = new ZarrflowError("no-space", "full");
    const store = new SlowStore();
    const set = store.set.bind(store);
    store.set = (key, ...rest) => (key === "b/.zarray" ? Promise.reject(failure) : set(key, ...rest));
    await expect(publish(["a/.zarray", "b/.zarray", ".zgroup"], { store })).rejects.toBe(failure);
    expect(store.ended).not.toContain(".zgroup");
  });
});
