import { describe, expect, it } from "vitest";
import type { ZarrArray } from "../../src/hierarchy/node.ts";
import { openNode } from "../../src/hierarchy/open/open-node.ts";
import {
  append,
  convert,
  copy,
  openArray,
  rechunk,
  renameNode,
  resizeArray,
  setAttributes,
  slice,
  sliceTo,
  writeRegion,
} from "../../src/index.ts";
import type { ZarrFormat } from "../../src/meta/array-metadata.ts";
import { consolidate } from "../../src/meta/consolidated.ts";
import type { DataTypeName } from "../../src/meta/data-type-name.ts";
import type { FlowEvent } from "../../src/run/events.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { keysOf } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";

const encode = (json: unknown) => new TextEncoder().encode(JSON.stringify(json));
const change = async (
  store: MemoryStore,
  key: string,
  how: (document: Awaited<ReturnType<typeof jsonAt>>) => object,
) => store.set(key, encode(how((await jsonAt(store, key)) ?? {})));

/** A group with documents of v2 and of v3 over one set of chunks, as `zarr migrate v3` leaves it. */
async function migrated({ consolidated = false } = {}): Promise<MemoryStore> {
  const v2 = { zarr_format: 2, shape: [6], chunks: [4], dtype: "<i2", order: "C", fill_value: -1 };
  const grid = { name: "regular", configuration: { chunk_shape: [4] } };
  const v3 = {
    ...{ zarr_format: 3, node_type: "array", shape: [6], data_type: "int16", chunk_grid: grid },
    chunk_key_encoding: { name: "v2", configuration: { separator: "." } },
    codecs: [{ name: "bytes", configuration: { endian: "little" } }],
    fill_value: -1,
    attributes: { units: "K", _FillValue: -1 },
    dimension_names: ["x"],
  };
  const documents = new Map([
    ["v/.zattrs", encode({ units: "K", _ARRAY_DIMENSIONS: ["x"] })],
    ["v/.zarray", encode({ ...v2, filters: null, compressor: null })],
    [".zgroup", encode({ zarr_format: 2 })],
    ["v/zarr.json", encode(v3)],
    ["zarr.json", encode({ zarr_format: 3, node_type: "group" })],
  ]);
  const all = consolidated ? consolidate("v2", "", consolidate("v3", "", documents)) : documents;
  return givenKeys({
    ...Object.fromEntries(all),
    "v/0": new Uint8Array(Int16Array.of(0, 1, 2, 3).buffer),
    "v/1": new Uint8Array(Int16Array.of(4, 5, -1, -1).buffer),
  });
}

const inV = (store: MemoryStore) => ({ store, path: "v" });

/** A node as the documents of one format describe it. */
async function nodeAs(store: MemoryStore, path: string, zarrFormat: ZarrFormat) {
  const node = await openNode(store, path, { zarrFormat });
  if (node === undefined) throw new Error(`no node of ${zarrFormat}`);
  return node;
}
const arrayAs = async (store: MemoryStore, zarrFormat: ZarrFormat) =>
  (await nodeAs(store, "v", zarrFormat)) as ZarrArray<DataTypeName, MemoryStore>;
/** The values as the documents of each of these formats describe them, which are the same. */
async function expectValues(store: MemoryStore, values: readonly number[], ...formats: ZarrFormat[]) {
  for (const format of formats.length > 0 ? formats : (["v2", "v3"] as const))
    expect([...(await slice(await arrayAs(store, format)).read()).data], format).toEqual(values);
}

const WHOLE = [0, 1, 2, 3, 4, 5];
const LEFT_OUT = expect.stringContaining("documents of another format are dropped");

describe("documents of two formats over one set of chunks", () => {
  it("stay in a plain copy", async () => {
    const [source, target] = [await migrated({ consolidated: true }), new MemoryStore()];
    await copy(source, target);
    expect((await keysOf(target)).sort()).toEqual((await keysOf(source)).sort());
    await expectValues(target, WHOLE);
  });

  type Flow = (source: MemoryStore, target: MemoryStore, how: object) => Promise<unknown>;
  it.each<[string, Flow, "v2" | "v3", readonly number[]]>([
    ["a rechunk", (from, to, how) => rechunk(from, to, { chunks: { x: 3 }, ...how }), "v3", WHOLE],
    ["another codec", (from, to, how) => copy(from, to, { codec: "gzip:1", ...how }), "v3", WHOLE],
    ["a slice", (from, to, how) => sliceTo(from, to, { slice: { x: [1, 3] }, ...how }), "v3", [1, 2]],
    [
      "a rechunk of what v2 says",
      async (from, to, how) => rechunk(await nodeAs(from, "", "v2"), to, { chunks: { x: 3 }, ...how }),
      "v2",
      WHOLE,
    ],
  ])("are left out by %s, with a warning, and written with keepFormats", async (_, flow, read, values) => {
    const [target, kept] = [new MemoryStore(), new MemoryStore()];
    const messages: string[] = [];
    const onEvent = (event: FlowEvent) => event.type === "warning" && messages.push(event.message);
    await flow(await migrated({ consolidated: true }), target, { onEvent });
    const others = read === "v3" ? /\.z/ : /zarr\.json$/;
    expect((await keysOf(target)).filter((key) => others.test(key))).toEqual([]);
    expect(messages).toEqual([LEFT_OUT]);
    await expectValues(target, values, read);
    await flow(await migrated(), kept, { keepFormats: true });
    await expectValues(kept, values);
  });

  it.each([false, true])("are written anew with keepFormats, consolidated: %j", async (consolidated) => {
    const target = new MemoryStore();
    const how = { chunks: { x: 3 }, codec: "gzip:1", keepFormats: true } as const;
    await rechunk(await migrated({ consolidated }), target, how);
    await expectValues(target, WHOLE);
    for (const format of ["v2", "v3"] as const)
      expect((await arrayAs(target, format)).dimensionNames).toEqual(["x"]);
    if (!consolidated) return expect(await target.get(".zmetadata")).toBeUndefined();
    const { metadata } = await jsonAt(target, ".zmetadata");
    expect(metadata["v/.zarray"]).toMatchObject({ chunks: [3], compressor: { id: "gzip" } });
  });

  it("are replaced by those of the target in a conversion", async () => {
    const [target, source] = [new MemoryStore(), await migrated({ consolidated: true })];
    await convert(source, target, { to: "v2", codec: "gzip:1" });
    expect((await keysOf(target)).filter((key) => key.endsWith("zarr.json"))).toEqual([]);
    await expectValues(target, WHOLE, "v2");
    const kept = convert(source, new MemoryStore(), { to: "v2", keepFormats: true });
    await expect(kept).rejects.toMatchObject({ code: "invalid-option" });
  });

  it.each(["v2", "v3"] as const)(
    "keep attributes of their own with keepFormats, read by %s",
    async (read) => {
      const [source, target] = [await migrated(), new MemoryStore()];
      const v2 = { units: "K", only: 2, both: 2 };
      const v3 = { only3: 3, both: 3, _FillValue: -1 };
      await source.set("v/.zattrs", encode({ ...v2, _ARRAY_DIMENSIONS: ["x"] }));
      await change(source, "v/zarr.json", (document) => ({ ...document, attributes: v3 }));
      const from = await nodeAs(source, "", read);
      await sliceTo(from, target, { slice: { x: [0, 3] }, keepFormats: true });
      expect((await arrayAs(target, "v2")).attributes).toMatchObject(v2);
      expect((await arrayAs(target, "v3")).attributes).toMatchObject(v3);
      await expectValues(target, [0, 1, 2]);
    },
  );
});

describe("an edit of an array with documents of two formats", () => {
  /** An array of the first two values. */
  async function more(): Promise<MemoryStore> {
    const store = new MemoryStore();
    await sliceTo(await migrated(), store, { slice: { x: [0, 2] } });
    return store;
  }

  it("changes both: appending, resizing, writing regions and setting attributes", async () => {
    const store = await migrated({ consolidated: true });
    const shapes = async () => {
      const [v2, v3] = [await jsonAt(store, ".zmetadata"), await jsonAt(store, "zarr.json")];
      return [v2.metadata["v/.zarray"].shape, v3.consolidated_metadata.metadata.v.shape];
    };
    await append(inV(await more()), inV(store), { dim: "x" });
    await expectValues(store, [...WHOLE, 0, 1]);
    expect(await shapes()).toEqual([[8], [8]]);
    await resizeArray(await openArray(inV(store)), [5]);
    await setAttributes(await openArray(inV(store)), { units: "degC" });
    await writeRegion(await openArray(inV(store)), [[1, 3]], Int16Array.of(8, 9));
    await expectValues(store, [0, 8, 9, 3, 4]);
    for (const format of ["v2", "v3"] as const)
      expect((await arrayAs(store, format)).attributes.units).toBe("degC");
    expect(await shapes()).toEqual([[5], [5]]);
  });

  it("follows in the group above, whose other attributes of each format stay its own", async () => {
    const store = await migrated();
    const dimensions = { _nczarr_group: { dimensions: { x: 6 }, arrays: ["v"], groups: [] } };
    const own = { _nczarr_array: { dimension_references: ["/x"], storage: "chunked" } };
    await change(store, ".zattrs", (document) => ({ ...document, ...dimensions, of: "v2" }));
    await change(store, "zarr.json", (document) => ({
      ...document,
      attributes: { ...dimensions, of: "v3" },
    }));
    await change(store, "v/.zattrs", (document) => ({ ...document, ...own }));
    await change(store, "v/zarr.json", (one) => ({ ...one, attributes: { ...one.attributes, ...own } }));
    await resizeArray(await openArray(inV(store)), [5]);
    const [v2, v3] = [await jsonAt(store, ".zattrs"), (await jsonAt(store, "zarr.json")).attributes];
    expect([v2.of, v3.of]).toEqual(["v2", "v3"]);
    expect(v2._nczarr_group).toEqual(v3._nczarr_group);
    expect(v2._nczarr_group).not.toEqual(dimensions._nczarr_group);
  });

  it("renames it in the consolidated metadata of both", async () => {
    const store = await migrated({ consolidated: true });
    await renameNode(await openArray(inV(store)), "w");
    const [v2, v3] = [await jsonAt(store, ".zmetadata"), await jsonAt(store, "zarr.json")];
    expect(Object.keys(v2.metadata)).toEqual([".zgroup", "w/.zarray", "w/.zattrs"]);
    expect(Object.keys(v3.consolidated_metadata.metadata)).toEqual(["w"]);
  });

  it("is refused where the two describe different chunks", async () => {
    const store = await migrated();
    await change(store, "v/.zarray", (document) => ({ ...document, chunks: [3] }));
    const array = await openArray(inV(store));
    const source = inV(await more());
    const refusal = { code: "unsupported-operation", details: { found: "different chunk shapes" } };
    await expect(resizeArray(array, [9])).rejects.toMatchObject(refusal);
    await expect(writeRegion(array, [[0, 1]], Int16Array.of(9))).rejects.toMatchObject(refusal);
    await expect(append(source, inV(store), { dim: "x" })).rejects.toMatchObject(refusal);
    await expectValues(store, WHOLE, "v3");
  });
});
