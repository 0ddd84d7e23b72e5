import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as zarrita from "zarrita";
import { copy, open, openArray, slice } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { HttpStore } from "../../src/stores/http.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { toZarrita, type ZarritaStore } from "../../src/stores/with/zarrita.ts";
import { openZipFile } from "../../src/stores/zip.ts";
import { serveValues } from "../stores/value-server.ts";
import { valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-zarrita-"));
});
afterAll(() => rm(folder, { recursive: true }));

const VALUES = Int32Array.from({ length: 60 }, (_, i) => i * 3 - 50);

describe.each<[string, () => ZarritaStore]>([
  ["a Map", () => new Map<string, Uint8Array>()],
  ["its store of files", () => new FileSystemStore(join(folder, "theirs"))],
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
  const makeSource = async () => {
    const t = { chunks: [7], shards: [21], dataType: "int32", values: VALUES };
    const path = join(folder, "ours.zarr");
    await given({ at: path, attributes: { title: "ours" }, arrays: { t } });
    await copy(path, `${path}.zip`);
    return path;
  };
  let path: string;
  beforeAll(async () => {
    path = await makeSource();
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
