import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { planFlow } from "../../../src/flows/request/flow.ts";
import type { OpenSource } from "../../../src/hierarchy/open/open.ts";
import {
  asStore,
  children,
  copy,
  diff,
  digest,
  digestTree,
  exists,
  info,
  open,
  openArray,
  openGroup,
  planSlice,
  slice,
  tree,
  validate,
  walk,
} from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { parseStoreUrl } from "../../../src/stores/url.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { serveValues, type ValueServer } from "../../stores/value-server.ts";
import { all, valuesIn } from "../../support/consume.ts";
import { given } from "../../support/given.ts";

const folder = temporaryFolder();
const ARRAYS = { t: { shape: [4], chunks: [2], dataType: "int8" } };

let server: ValueServer;
let place: string;
beforeAll(async () => {
  place = await given({ at: join(folder.path, "g.zarr"), arrays: ARRAYS });
  server = await serveValues(await valuesIn(await given({ arrays: ARRAYS, consolidated: true })));
});
afterAll(() => server.close());

/** What names a group, or the array in it. */
const SOURCES: Readonly<Record<string, (path: "" | "t") => Promise<OpenSource> | OpenSource>> = {
  "a path": (path) => join(place, path),
  "a URL of a file": (path) => pathToFileURL(join(place, path)).href,
  "a URL object": (path) => new URL(`${server.url}/${path}`),
  "a store": async (path) =>
    path === "" ? given({ arrays: ARRAYS }) : given({ ...ARRAYS.t, at: new MemoryStore() }),
  "a path in a store": async (path) => ({ store: await given({ arrays: ARRAYS }), path }),
  "a store of zarrita": async (path) => ({
    store: new Map(
      [...(await valuesIn(await given({ arrays: ARRAYS })))].map(([key, value]) => [`/${key}`, value]),
    ),
    path,
  }),
  "the spec of a store": (path) => ({ kind: "directory", path: join(place, path) }),
  "a spec and a path": (path) => ({ spec: { kind: "directory", path: place }, path }),
  "what parseStoreUrl gives": (path) => parseStoreUrl(join(place, path)),
  "an open node": (path) => open(join(place, path)),
};

const OF_GROUPS: Readonly<Record<string, (source: OpenSource) => Promise<unknown>>> = {
  open,
  openGroup,
  exists,
  tree: (source) => all(tree(source)),
  info: (source) => all(info(source)),
  digest: (source) => all(digest(source)),
  digestTree,
  diff: (source) => all(diff(source, source)),
  validate: (source) => all(validate(source)),
  walk: (source) => all(walk(source)),
  children: (source) => all(children(source)),
  copy: (source) => copy(source, new MemoryStore()),
  plan: async (source) => (await planFlow(source, new MemoryStore())).close(),
  asStore: async (source) => (await asStore(source)).close?.(),
};

const OF_ARRAYS: Readonly<Record<string, (source: OpenSource) => Promise<unknown>>> = {
  openArray,
  planSlice: (source) => planSlice(source, { x: 0 } as never).catch(() => planSlice(source, [0])),
  slice: async (source) => expect([...(await slice(source).read()).data]).toEqual([0, 1, 2, 3]),
};

describe.each(Object.entries(SOURCES))("%s", (_, sourceOf) => {
  test.each(Object.entries(OF_GROUPS))("is a group for %s", async (_, read) => {
    await read(await sourceOf(""));
  });

  test.each(Object.entries(OF_ARRAYS))("is an array for %s", async (_, read) => {
    await read(await sourceOf("t"));
  });
});

describe("an open node", () => {
  test("is given back by open, through what wraps its store", async () => {
    const array = await openArray(join(place, "t"));
    expect(await open(array)).toBe(array);
    const wrap = vi.fn((store) => ({ ...store, description: "wrapped", get: store.get.bind(store) }));
    expect((await openArray(array, { wrap })).store.description).toBe("wrapped");
    expect(wrap).toHaveBeenCalledOnce();
  });

  test("cannot be opened in another way", async () => {
    const array = await openArray(join(place, "t"));
    await expect(open(array, { headers: { a: "b" } })).rejects.toMatchObject({
      code: "invalid-option",
      message: expect.stringContaining("headers"),
    });
    await expect(openGroup(array)).rejects.toMatchObject({ code: "not-found" });
    await expect(slice(await openGroup(place)).read()).rejects.toMatchObject({ code: "not-found" });
    await expect(planSlice(array, {}, { anonymous: true })).rejects.toMatchObject({ code: "invalid-option" });
  });
});

test("a store of the caller stays open, also where its spec names it", async () => {
  const memory = await given({ arrays: ARRAYS });
  const close = vi.fn(async () => {});
  const store = Object.assign(memory, { close });
  const { spec } = await open(store);
  for (const source of [{ spec, path: "t" }, { store, path: "t" }, await openArray({ store, path: "t" })]) {
    const part = slice(source);
    await part.read();
    await part.read();
    await all(info(source));
  }
  expect(spec.kind).toBe("object");
  expect(close).not.toHaveBeenCalled();
});

test("what is no source is refused, with what may be one", async () => {
  for (const value of [1, null, {}, { kind: "folder", path: "x" }, { path: "x" }]) {
    await expect(open(value as OpenSource)).rejects.toMatchObject({
      code: "invalid-option",
      details: { expected: expect.stringContaining("the spec of a store") },
    });
  }
});

describe("in a page", () => {
  test("a path is relative to it", async () => {
    vi.resetModules();
    vi.stubGlobal("document", { baseURI: "https://example.org/maps/index.html" });
    vi.doMock("../../../src/util/platform.node.ts", () => import("../../../src/util/platform.browser.ts"));
    try {
      const { parseStoreUrl: parse } = await import("../../../src/stores/url/parse-url.ts");
      const folder = (url: string) => ({ spec: { kind: "http", url }, path: "" });
      expect(parse("data/era 5.zarr")).toMatchObject(folder("https://example.org/maps/data/era%205.zarr"));
      expect(parse("/x.zarr/t")).toMatchObject(folder("https://example.org/x.zarr/t"));
      expect(parse("../x.zarr")).toMatchObject(folder("https://example.org/x.zarr"));
      expect(parse("x.zarr.zip/t")).toMatchObject({
        spec: {
          kind: "zip-value",
          store: { kind: "http", url: "https://example.org/maps" },
          key: "x.zarr.zip",
        },
        path: "t",
      });
      expect(parse("https://other.org/x.zarr")).toMatchObject(folder("https://other.org/x.zarr"));
      expect(parse("memory:x").spec).toEqual({ kind: "memory", name: "x" });
      vi.stubGlobal("document", undefined);
      vi.stubGlobal("location", { href: "https://example.org/worker.js" });
      expect(parse("x.zarr")).toMatchObject(folder("https://example.org/x.zarr"));
      vi.stubGlobal("location", undefined);
      expect(parse("x.zarr").spec.kind).toBe("directory");
    } finally {
      vi.unstubAllGlobals();
      vi.doUnmock("../../../src/util/platform.node.ts");
      vi.resetModules();
    }
  });
});
