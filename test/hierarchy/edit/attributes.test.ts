import { describe, expect, test } from "vitest";
import { create, createGroup, open, openGroup, setAttributes, walk } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection } from "../../streams/support.ts";
import { all, keysOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { jsonAt } from "../keys.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();
const zarrFormats = ["v2", "v3"] as const;

const array = { shape: [3], dataType: "uint8", chunks: [2], dimensionNames: ["x"] } as const;

describe.each(zarrFormats)("attributes of an array of %s", (zarrFormat) => {
  async function made() {
    const store = new MemoryStore();
    const attributes = { units: "K", big: 2n ** 60n, old: 1 };
    await (await create({ store, path: "a" }, { ...array, zarrFormat, attributes })).close();
    return { store, node: await open({ store, path: "a" }) };
  }

  test("a patch: others stay, to the last digit; undefined ones go", async () => {
    const { store, node } = await made();
    const changed = await setAttributes(node, { units: "m", old: undefined, more: [1, { a: null }] });
    expect(changed.attributes).toEqual({ units: "m", big: 2n ** 60n, more: [1, { a: null }] });
    expect((await open({ store, path: "a" })).attributes).toEqual(changed.attributes);
    expect(changed.metadata).toMatchObject({ dimensionNames: ["x"] });
    // v2 sorts them
    const names = ["units", "big", "more"];
    expect(Object.keys(changed.attributes)).toEqual(zarrFormat === "v2" ? names.sort() : names);
  });

  test("all attributes are replaced", async () => {
    const { node } = await made();
    expect((await setAttributes(node, { only: true }, { replace: true })).attributes).toEqual({ only: true });
    expect((await setAttributes(node, {}, { replace: true })).attributes).toEqual({});
  });

  test("what others have set since stays", async () => {
    const { node } = await made();
    await setAttributes(node, { first: 1 });
    expect((await setAttributes(node, { second: 2 })).attributes).toMatchObject({
      first: 1,
      second: 2,
      units: "K",
    });
  });

  test("only the document that holds them is written, and none when nothing changes", async () => {
    const { store } = await made();
    const written: string[] = [];
    const log = withRequestLog(store, ({ operation, key }) => {
      if (operation === "set" || operation === "delete") written.push(`${operation} ${key}`);
    });
    const node = await open({ store: log, path: "a" });
    await setAttributes(node, { units: "m" });
    expect(written).toEqual([`set a/${zarrFormat === "v2" ? ".zattrs" : "zarr.json"}`]);
    written.length = 0;
    await setAttributes(node, { units: "m", never: undefined });
    expect(written).toEqual([]);
  });

  test("what JSON cannot hold is refused, and nothing is written", async () => {
    const { store, node } = await made();
    expect(await rejection(setAttributes(node, { f: () => 1 }))).toMatchObject({ code: "invalid-option" });
    expect(await rejection(setAttributes(node, { n: Number.NaN }))).toMatchObject({
      code: "loss-refused",
      details: { pointers: ["/attributes/n"] },
    });
    expect((await open({ store, path: "a" })).attributes).toMatchObject({ units: "K" });
    const changed = await setAttributes(node, { n: Number.NaN }, { allowLoss: ["/attributes/n"] });
    expect(changed.attributes).toMatchObject({ n: null });
  });

  test("a node that is gone, and a store that cannot be written", async () => {
    const { store, node } = await made();
    for (const key of await keysOf(store)) await store.delete(key);
    expect(await rejection(setAttributes(node, { a: 1 }))).toMatchObject({ code: "not-found" });
    const zip = folder.next("a.zip");
    await (await create(zip, { ...array, zarrFormat })).close();
    expect(await rejection(setAttributes(await open(zip), { a: 1 }))).toMatchObject({
      code: "unsupported-operation",
    });
  });
});

test("v2: no attributes, no document", async () => {
  const store = new MemoryStore();
  await (await createGroup(store, { zarrFormat: "v2", attributes: { a: 1 } })).close();
  await setAttributes(await open(store), { a: undefined });
  expect(await keysOf(store)).toEqual([".zgroup"]);
});

describe.each(zarrFormats)("consolidated metadata of %s stay true", (zarrFormat) => {
  async function consolidated() {
    const arrays = { "inner/a": { ...array, attributes: { units: "K" }, values: null } };
    const attributes = { title: "t" };
    return given({ at: folder.next("c.zarr"), zarrFormat, attributes, arrays, consolidated: true });
  }

  /** Attributes by path, as consolidated metadata of the root tell them. */
  async function told(root: string): Promise<Record<string, unknown>> {
    const store = new DirectoryStore(root);
    if (zarrFormat === "v3") {
      const { attributes, consolidated_metadata } = await jsonAt(store, "zarr.json");
      const nodes = Object.entries<{ attributes: object }>(consolidated_metadata.metadata);
      return { "": attributes, ...Object.fromEntries(nodes.map(([path, node]) => [path, node.attributes])) };
    }
    const { metadata } = await jsonAt(store, ".zmetadata");
    return Object.fromEntries(
      Object.entries(metadata)
        .filter(([key]) => key.endsWith(".zattrs"))
        .map(([key, json]) => [key.slice(0, -".zattrs".length).replace(/\/$/, ""), json]),
    );
  }

  test.each(["URL of the node", "store and path"])("above an array opened by %s", async (how) => {
    const root = await consolidated();
    const at =
      how === "URL of the node" ? `${root}/inner/a` : { store: new DirectoryStore(root), path: "inner/a" };
    await setAttributes(await open(at), { units: "m" });
    const units = zarrFormat === "v2" ? { units: "m", _ARRAY_DIMENSIONS: ["x"] } : { units: "m" };
    expect((await told(root))["inner/a"]).toEqual(units);
    expect((await told(root))[""]).toEqual({ title: "t" });
  });

  test("of the group itself", async () => {
    const root = await consolidated();
    await setAttributes(await open(root), { title: "new" });
    expect((await told(root))[""]).toEqual({ title: "new" });
    expect((await openGroup(root)).attributes).toEqual({ title: "new" });
    const nodes = (await all(walk(await openGroup(root)))).map((node) => node.path);
    expect(nodes).toEqual(["inner", "inner/a"]);
  });

  test("lack the array before the change, and have it again after", async () => {
    const root = await consolidated();
    const calls: string[] = [];
    const store = withRequestLog(new DirectoryStore(root), ({ operation, key }) => {
      if (operation === "set" || operation === "delete") calls.push(`${operation} ${key}`);
    });
    await setAttributes(await open({ store, path: "inner/a" }), { units: "m" });
    expect(calls.filter((call) => !call.includes(".zarrflow-"))).toEqual(
      zarrFormat === "v2"
        ? ["set .zmetadata", "set inner/a/.zattrs", "set .zmetadata"]
        : ["set zarr.json", "set inner/a/zarr.json", "set zarr.json"],
    );
  });
});
