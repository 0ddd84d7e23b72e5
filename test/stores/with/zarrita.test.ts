import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FetchStore, FileSystemStore } from "@zarrita/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { isWritable, type WritableStore } from "../../../src/stores/store.ts";
import { storeChecks } from "../../../src/stores/testing.ts";
import { fromZarrita, toStore, toZarrita, type ZarritaStore } from "../../../src/stores/with/zarrita.ts";
import { serveValues } from "../value-server.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-zarrita-"));
});
afterAll(() => rm(folder, { recursive: true }));

let made = 0;
const kinds: [string, () => ZarritaStore][] = [
  ["a Map", () => new Map<string, Uint8Array>()],
  ["its store of files", () => new FileSystemStore(join(folder, `${made++}`))],
];

const writableFrom = (store: ZarritaStore): WritableStore => {
  const ours = fromZarrita(store);
  if (!isWritable(ours)) throw new Error("cannot be written");
  return ours;
};

const VALUE = Uint8Array.from({ length: 60 }, (_, i) => i * 3);

describe.each(kinds)("%s as a store of ours", (_, make) => {
  const empty = async () => writableFrom(make());
  const filled = async (values: ReadonlyMap<string, Uint8Array>) => {
    const store = await empty();
    for (const [key, value] of values) await store.set(key, value);
    return store;
  };
  // What its store of files gives for a range beyond the end of a value is zeros.
  const keeps = storeChecks({ lists: false, filled, empty }).filter(
    ({ name }) => !/range|part|buffer/i.test(name),
  );
  for (const { name, run } of keeps) it(name, () => run());
});

describe("a store of zarrita's", () => {
  it("that is a Map keeps every promise of a store", async () => {
    const filled = async (values: ReadonlyMap<string, Uint8Array>) =>
      fromZarrita(new Map([...values].map(([key, value]) => [`/${key}`, value])));
    for (const { run } of storeChecks({ lists: true, filled })) await run();
  });

  it("is asked for ranges where it has them", async () => {
    const server = await serveValues(new Map([["a/0", VALUE]]));
    try {
      const store = fromZarrita(new FetchStore(server.url, { useSuffixRequest: true }));
      expect(store.description).toBe("zarrita FetchStore");
      expect(await store.get("a/0", { range: { offset: 4, length: 4 } })).toEqual(VALUE.slice(4, 8));
      expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(VALUE.slice(-3));
      expect(server.requests.map(({ headers }) => headers.range)).toEqual(["bytes=4-7", "bytes=-3"]);
    } finally {
      await server.close();
    }
  });

  it("is not believed when it gives more than the range", async () => {
    const server = await serveValues(new Map([["a/0", new Uint8Array(100)]]), { ignoresRanges: true });
    try {
      const store = fromZarrita(new FetchStore(server.url));
      await expect(store.get("a/0", { range: { offset: 4, length: 4 } })).rejects.toMatchObject({
        code: "short-read",
        details: { key: "a/0", expected: 4, found: 100 },
      });
    } finally {
      await server.close();
    }
  });

  it("that has no set cannot be written, nor deleted from without delete", async () => {
    expect(isWritable(fromZarrita(new FetchStore("http://127.0.0.1:9/x")))).toBe(false);
    const { get, set } = { get: () => undefined, set: () => undefined };
    await expect(writableFrom({ get, set }).delete("a")).rejects.toMatchObject({
      code: "unsupported-operation",
    });
  });

  it("is not changed by those who read from it", async () => {
    const map = new Map<string, Uint8Array>([["/a", new Uint8Array([1])]]);
    (await fromZarrita(map).get("a"))?.fill(9);
    expect(map.get("/a")).toEqual(new Uint8Array([1]));
  });

  it("keeps a copy of a Buffer, whose own slice would not be one", async () => {
    const map = new Map<string, Uint8Array>();
    const bytes = Buffer.from([1, 2]);
    await writableFrom(map).set("a", bytes);
    bytes.fill(0);
    expect(map.get("/a")).toEqual(new Uint8Array([1, 2]));
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
    const { description, get, size } = {
      description: "read only",
      get: async () => VALUE,
      size: async () => 60,
    };
    expect("set" in toZarrita({ description, get, size })).toBe(false);
    await expect(theirs.get("/../a")).rejects.toMatchObject({ code: "path-not-allowed" });
  });

  it("is distinguished from one of theirs by its size", () => {
    const memory = new MemoryStore();
    expect(toStore(memory)).toBe(memory);
    expect(toStore(new Map()).description).toBe("zarrita Map");
  });
});
