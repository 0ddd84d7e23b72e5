import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import { beforeAll, describe, expect, it, test } from "vitest";
import * as zarrita from "zarrita";
import type { CodecJson } from "../../src/codecs/registry.ts";
import { copy, open, openArray, slice } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { HttpStore } from "../../src/stores/http.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { toZarrita, type ZarritaStore } from "../../src/stores/with/zarrita.ts";
import { openZipFile } from "../../src/stores/zip.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues } from "../stores/value-server.ts";
import { itemsOf, valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";

const folder = temporaryFolder();

const VALUES = Int32Array.from({ length: 60 }, (_, i) => i * 3 - 50);

describe.each<[string, () => ZarritaStore]>([
  ["a Map", () => new Map<string, Uint8Array>()],
  ["its store of files", () => new FileSystemStore(join(folder.path, "theirs"))],
])("%s as a store of ours", (_, make) => {
  it("is created in, opened and copied", async () => {
    const store = make();
    await given({ at: { store, path: "t" }, chunks: [7], dataType: "int32", values: VALUES });
    expect((await slice(await openArray({ store, path: "t" })).read()).data).toEqual(VALUES);
    await copy({ store, path: "t" }, "memory:from-zarrita", { ifExists: "replace" });
    expect((await slice("memory:from-zarrita").read()).data).toEqual(VALUES);
  });
});

describe("stores of ours in zarrita", () => {
  const path = join(folder.path, "ours.zarr");
  beforeAll(async () => {
    const t = { chunks: [7], shards: [21], dataType: "int32", values: VALUES };
    await given({ at: path, attributes: { title: "ours" }, arrays: { t } });
    await copy(path, `${path}.zip`);
  });

  const read = async (store: zarrita.Readable) => {
    const group = await zarrita.open(store, { kind: "group" });
    expect(group.attrs).toEqual({ title: "ours" });
    const array = await zarrita.open(group.resolve("t"), { kind: "array" });
    expect((await zarrita.get(array)).data).toEqual(VALUES);
  };

  it("zarrita reads through a directory of ours", () => read(toZarrita(new DirectoryStore(path))));

  it("zarrita reads through a zip of ours", async () => {
    const zip = await openZipFile(`${path}.zip`);
    await read(toZarrita(zip));
    await zip.close();
  });

  it("a web server, by range", async () => {
    const server = await serveValues(await valuesIn(new DirectoryStore(path)));
    try {
      await read(toZarrita(new HttpStore(server.url)));
      expect(server.requests.some(({ headers }) => headers.range !== undefined)).toBe(true);
    } finally {
      await server.close();
    }
  });

  it("one that zarrita writes", async () => {
    const store = new MemoryStore();
    const theirs = await zarrita.create(zarrita.root(toZarrita(store)), {
      shape: [60],
      chunkShape: [7],
      dtype: "int32",
      codecs: [{ name: "bytes", configuration: { endian: "little" } }],
      fillValue: 0,
    });
    const data = { data: VALUES, shape: [60], stride: [1] };
    await zarrita.set(theirs, null, data);
    const node = await open(store);
    expect(node.kind).toBe("array");
    expect((await slice(await openArray(store)).read()).data).toEqual(VALUES);
  });
});

const DOUBLES = Float64Array.of(-2.5, -1.5, 0.5, 1.5, 2.5, 99.75, 100, 127);

const cast = (configuration: object): CodecJson => ({ name: "cast_value", configuration });
const scale = (configuration: object): CodecJson => ({ name: "scale_offset", configuration });

describe("zarrita reads the values that we computed", () => {
  test.each<[string, readonly CodecJson[], number]>([
    ["a cast", [cast({ data_type: "float32" })], 0],
    ["one that rounds to even", [cast({ data_type: "int16" })], 0.5],
    ["one away from zero", [cast({ data_type: "int64", rounding: "nearest-away" })], 0.5],
    ["one that clamps", [cast({ data_type: "uint8", rounding: "towards-zero", out_of_range: "clamp" })], 3],
    ["a scale", [scale({ offset: 5, scale: 2 })], 0],
    ["a scale and a cast", [scale({ offset: -3, scale: 4 }), cast({ data_type: "uint16" })], 0],
  ])("%s", async (_, codecs, tolerance) => {
    const store = await given({ chunks: [3], dataType: "float64", codecs: [...codecs], values: DOUBLES });
    const ours = await itemsOf(store, "");
    const reader = { get: async (key: string) => store.get(key.replace(/^\//, "")) };
    const theirs = await zarrita.get(await zarrita.open.v3(reader, { kind: "array" }));
    expect([...(theirs.data as Float64Array)]).toEqual(ours);
    for (const [i, value] of ours.entries()) {
      expect(Math.abs(Number(value) - Number(DOUBLES[i]))).toBeLessThanOrEqual(tolerance);
    }
  });
});
