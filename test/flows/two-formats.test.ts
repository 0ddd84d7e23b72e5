import { describe, expect, it } from "vitest";
import type { FlowEvent } from "../../src/flows/events.ts";
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
import { MemoryStore } from "../../src/stores/memory.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { keysOf } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";

const encode = (json: unknown) => new TextEncoder().encode(JSON.stringify(json));

/** A group with documents of v2 and of v3 over one set of chunks, as `zarr migrate v3` leaves it. */
async function migrated({ consolidated = false } = {}): Promise<MemoryStore> {
  const v2 = { zarr_format: 2, shape: [6], chunks: [4], dtype: "<i2", order: "C", fill_value: -1 };
  const grid = { name: "regular", configuration: { chunk_shape: [4] } };
  const v3 = { zarr_format: 3, node_type: "array", shape: [6], data_type: "int16", chunk_grid: grid };
  const documents = new Map([
    ["v/.zattrs", encode({ units: "K", _ARRAY_DIMENSIONS: ["x"] })],
    ["v/.zarray", encode({ ...v2, filters: null, compressor: null })],
    [".zgroup", encode({ zarr_format: 2 })],
    [
      "v/zarr.json",
      encode({
        ...v3,
        chunk_key_encoding: { name: "v2", configuration: { separator: "." } },
        codecs: [{ name: "bytes", configuration: { endian: "little" } }],
        fill_value: -1,
        attributes: { units: "K", _FillValue: -1 },
        dimension_names: ["x"],
      }),
    ],
    ["zarr.json", encode({ zarr_format: 3, node_type: "group" })],
  ]);
  const all = consolidated ? consolidate("v2", "", consolidate("v3", "", documents)) : documents;
  return givenKeys({
    ...Object.fromEntries(all),
    "v/0": new Uint8Array(Int16Array.of(0, 1, 2, 3).buffer),
    "v/1": new Uint8Array(Int16Array.of(4, 5, -1, -1).buffer),
  });
}

/** The array as the documents of one format describe it. */
async function arrayAs(
  store: MemoryStore,
  zarrFormat: ZarrFormat,
): Promise<ZarrArray<DataTypeName, MemoryStore>> {
  const node = await openNode(store, "v", { zarrFormat });
  if (node?.kind !== "array") throw new Error(`no array of ${zarrFormat}`);
  return node;
}

async function valuesAs(store: MemoryStore, zarrFormat: ZarrFormat): Promise<number[]> {
  const { data } = await slice(await arrayAs(store, zarrFormat)).read();
  return [...(data as Int16Array)];
}

function warningsInto(messages: string[]) {
  return (event: FlowEvent) => {
    if (event.type === "warning") messages.push(event.message);
  };
}

describe("documents of two formats over one set of chunks", () => {
  it("stay in a plain copy", async () => {
    const [source, target] = [await migrated({ consolidated: true }), new MemoryStore()];
    await copy(source, target);
    expect((await keysOf(target)).sort()).toEqual((await keysOf(source)).sort());
    expect(await valuesAs(target, "v2")).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it.each([
    ["a rechunk", (source: MemoryStore, target: MemoryStore) => ({ source, target, chunks: { x: 3 } })],
    [
      "another codec",
      (source: MemoryStore, target: MemoryStore) => ({ source, target, codec: "gzip:1" as const }),
    ],
  ])("are left out by %s, with a warning", async (_, asked) => {
    const { source, target, ...changes } = asked(await migrated({ consolidated: true }), new MemoryStore());
    const messages: string[] = [];
    const onEvent = warningsInto(messages);
    if ("chunks" in changes) await rechunk(source, target, { ...changes, onEvent });
    else await copy(source, target, { ...changes, onEvent });
    expect((await keysOf(target)).filter((key) => key.includes(".z"))).toEqual([]);
    expect(messages).toEqual([expect.stringContaining("documents of another format are left out")]);
    expect(await valuesAs(target, "v3")).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it.each([{ consolidated: false }, { consolidated: true }])(
    "are written anew with keepFormats, %j",
    async (how) => {
      const target = new MemoryStore();
      await rechunk(await migrated(how), target, { chunks: { x: 3 }, codec: "gzip:1", keepFormats: true });
      for (const format of ["v2", "v3"] as const) {
        expect(await valuesAs(target, format)).toEqual([0, 1, 2, 3, 4, 5]);
        expect((await arrayAs(target, format)).dimensionNames).toEqual(["x"]);
      }
      const listed = await target.get(".zmetadata");
      expect(listed !== undefined).toBe(how.consolidated);
      if (listed) {
        const { metadata } = JSON.parse(new TextDecoder().decode(listed));
        expect(metadata["v/.zarray"]).toMatchObject({ chunks: [3], compressor: { id: "gzip" } });
      }
    },
  );

  it("of v3 are left out where those of v2 are read", async () => {
    const target = new MemoryStore();
    const source = await migrated();
    const messages: string[] = [];
    const group = await openNode(source, "", { zarrFormat: "v2" });
    if (group === undefined) throw new Error("no group");
    await rechunk(group, target, { chunks: { x: 3 }, onEvent: warningsInto(messages) });
    expect((await keysOf(target)).filter((key) => key.endsWith("zarr.json"))).toEqual([]);
    expect(messages).toEqual([expect.stringContaining("documents of another format are left out")]);
    expect(await valuesAs(target, "v2")).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("of both formats are replaced by those of the target in a conversion", async () => {
    const [target, source] = [new MemoryStore(), await migrated({ consolidated: true })];
    await convert(source, target, { to: "v2", codec: "gzip:1" });
    expect((await keysOf(target)).filter((key) => key.endsWith("zarr.json"))).toEqual([]);
    expect(await valuesAs(target, "v2")).toEqual([0, 1, 2, 3, 4, 5]);
    await expect(convert(source, new MemoryStore(), { to: "v2", keepFormats: true })).rejects.toMatchObject({
      code: "invalid-option",
    });
  });

  it.each(["v2", "v3"] as const)(
    "keep attributes of their own with keepFormats, read by %s",
    async (read) => {
      const [source, target] = [await migrated(), new MemoryStore()];
      const attributesOf = {
        v2: { units: "K", only: 2, both: 2 },
        v3: { only3: 3, both: 3, _FillValue: -1 },
      };
      await source.set("v/.zattrs", encode({ ...attributesOf.v2, _ARRAY_DIMENSIONS: ["x"] }));
      const v3 = JSON.parse(new TextDecoder().decode(await source.get("v/zarr.json")));
      await source.set("v/zarr.json", encode({ ...v3, attributes: attributesOf.v3 }));
      const from = await openNode(source, "", { zarrFormat: read });
      if (from === undefined) throw new Error("no group");
      await sliceTo(from, target, { slice: { x: [0, 3] }, keepFormats: true });
      expect((await arrayAs(target, "v2")).attributes).toMatchObject(attributesOf.v2);
      expect((await arrayAs(target, "v3")).attributes).toMatchObject(attributesOf.v3);
      expect(await valuesAs(target, "v2")).toEqual(await valuesAs(target, "v3"));
    },
  );

  it("are written for a slice only with keepFormats", async () => {
    const [plain, kept] = [new MemoryStore(), new MemoryStore()];
    const messages: string[] = [];
    await sliceTo(await migrated(), plain, { slice: { x: [1, 3] }, onEvent: warningsInto(messages) });
    expect((await keysOf(plain)).filter((key) => key.includes(".z"))).toEqual([]);
    expect(messages).toEqual([expect.stringContaining("documents of another format are left out")]);
    await sliceTo(await migrated(), kept, { slice: { x: [1, 3] }, keepFormats: true });
    expect(await valuesAs(kept, "v2")).toEqual([1, 2]);
    expect(await valuesAs(kept, "v3")).toEqual([1, 2]);
  });
});

describe("an edit of an array with documents of two formats", () => {
  async function consolidatedShapes(store: MemoryStore): Promise<unknown[]> {
    const [v2, v3] = [await jsonAt(store, ".zmetadata"), await jsonAt(store, "zarr.json")];
    return [v2.metadata["v/.zarray"].shape, v3.consolidated_metadata.metadata.v.shape];
  }

  it("changes both: appending, resizing and setting attributes", async () => {
    const store = await migrated({ consolidated: true });
    const more = new MemoryStore();
    await sliceTo(await migrated(), more, { slice: { x: [0, 2] } });
    await append({ store: more, path: "v" }, { store, path: "v" }, { dim: "x" });
    for (const format of ["v2", "v3"] as const) {
      expect(await valuesAs(store, format)).toEqual([0, 1, 2, 3, 4, 5, 0, 1]);
    }
    expect(await consolidatedShapes(store)).toEqual([[8], [8]]);
    await resizeArray(await openArray({ store, path: "v" }), [5]);
    await setAttributes(await openArray({ store, path: "v" }), { units: "degC" });
    for (const format of ["v2", "v3"] as const) {
      expect(await valuesAs(store, format)).toEqual([0, 1, 2, 3, 4]);
      expect((await arrayAs(store, format)).attributes.units).toBe("degC");
    }
    expect(await consolidatedShapes(store)).toEqual([[5], [5]]);
  });

  it("follows in the group above, whose other attributes of each format stay its own", async () => {
    const store = await migrated();
    const set = async (key: string, change: (document: Record<string, unknown>) => void) => {
      const text = new TextDecoder().decode((await store.get(key)) ?? new TextEncoder().encode("{}"));
      const document = JSON.parse(text);
      change(document);
      await store.set(key, new TextEncoder().encode(JSON.stringify(document)));
    };
    const dimensions = { _nczarr_group: { dimensions: { x: 6 }, arrays: ["v"], groups: [] } };
    await set(".zattrs", (document) => Object.assign(document, dimensions, { of: "v2" }));
    await set("zarr.json", (document) => {
      document.attributes = { ...dimensions, of: "v3" };
    });
    const own = { _nczarr_array: { dimension_references: ["/x"], storage: "chunked" } };
    await set("v/.zattrs", (document) => Object.assign(document, own));
    await set("v/zarr.json", (document) => Object.assign(document.attributes as object, own));
    await resizeArray(await openArray({ store, path: "v" }), [5]);
    const attributesOf = async (key: string) => {
      const document = JSON.parse(new TextDecoder().decode(await store.get(key)));
      return key === "zarr.json" ? document.attributes : document;
    };
    const [v2, v3] = [await attributesOf(".zattrs"), await attributesOf("zarr.json")];
    expect([v2.of, v3.of]).toEqual(["v2", "v3"]);
    expect(v2._nczarr_group).toEqual(v3._nczarr_group);
    expect(v2._nczarr_group).not.toEqual(dimensions._nczarr_group);
  });

  it("renames it in the consolidated metadata of both", async () => {
    const store = await migrated({ consolidated: true });
    await renameNode(await openArray({ store, path: "v" }), "w");
    const listed = (await jsonAt(store, ".zmetadata")).metadata;
    expect(Object.keys(listed)).toEqual([".zgroup", "w/.zarray", "w/.zattrs"]);
    const { consolidated_metadata } = await jsonAt(store, "zarr.json");
    expect(Object.keys(consolidated_metadata.metadata)).toEqual(["w"]);
  });

  it("is refused where the two describe different chunks", async () => {
    const store = await migrated();
    const document = JSON.parse(new TextDecoder().decode(await store.get("v/.zarray")));
    await store.set("v/.zarray", encode({ ...document, chunks: [3] }));
    const array = await openArray({ store, path: "v" });
    const refusal = { code: "unsupported-operation", details: { found: "different chunk shapes" } };
    await expect(resizeArray(array, [9])).rejects.toMatchObject(refusal);
    await expect(writeRegion(array, [[0, 1]], Int16Array.of(9))).rejects.toMatchObject(refusal);
    const more = new MemoryStore();
    await sliceTo(await migrated(), more, { slice: { x: [0, 2] } });
    const source = { store: more, path: "v" };
    await expect(append(source, { store, path: "v" }, { dim: "x" })).rejects.toMatchObject(refusal);
    expect(await valuesAs(store, "v3")).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("writes regions that both show", async () => {
    const store = await migrated();
    await writeRegion(await openArray({ store, path: "v" }), [[1, 3]], Int16Array.of(8, 9));
    for (const format of ["v2", "v3"] as const) {
      expect(await valuesAs(store, format)).toEqual([0, 8, 9, 3, 4, 5]);
    }
  });
});
