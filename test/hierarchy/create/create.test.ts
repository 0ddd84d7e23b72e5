import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import yauzl from "yauzl";
import {
  create,
  createGroup,
  open,
  openArray,
  openGroup,
  setAttributes,
  slice,
  walk,
} from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { openZipFile, ZipStore, ZipWriter } from "../../../src/stores/zip.ts";
import { BytesReader } from "../../stores/bytes-reader.ts";
import { MemorySink } from "../../stores/memory-sink.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections } from "../../streams/support.ts";
import { all, keysOf } from "../../support/consume.ts";
import { writeSpecExample } from "../../support/spec-example.ts";
import { everythingIn, jsonAt } from "../keys.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

const array = { shape: [4, 4], dataType: "int32", chunks: [2, 4] } as const;
const ones = new Int32Array(16).fill(1);

describe("a URL", () => {
  test("is built beside its name, with the groups above that are missing", async () => {
    const root = folder.next("out.zarr");
    const writer = await create(`${root}/a/b`, array);
    await writer.write([], ones);
    expect(everythingIn(dirname(root)).filter((name) => !name.includes(".zarrflow-"))).toEqual([
      "out.zarr/",
      "out.zarr/a/",
    ]);
    await writer.close();
    expect(everythingIn(dirname(root))).toEqual([
      "out.zarr/",
      "out.zarr/a/",
      "out.zarr/a/b/",
      "out.zarr/a/b/c/",
      "out.zarr/a/b/c/0/",
      "out.zarr/a/b/c/0/0",
      "out.zarr/a/b/c/1/",
      "out.zarr/a/b/c/1/0",
      "out.zarr/a/b/zarr.json",
      "out.zarr/a/zarr.json",
      "out.zarr/zarr.json",
    ]);
    const paths = (await all(walk(await openGroup(root)))).map((node) => `${node.kind} ${node.path}`);
    expect(paths).toEqual(["group a", "array a/b"]);
  });

  test("that has no name of a root is one itself", async () => {
    const target = folder.next("plain");
    await (await create(target, array)).close();
    expect(everythingIn(dirname(target))).toEqual(["plain/", "plain/zarr.json"]);
  });

  test("in a hierarchy is part of it: of its format, and existing groups stay as they are", async () => {
    const root = folder.next("hierarchy");
    await (await createGroup(root, { zarrFormat: "v2", attributes: { title: "mine" } })).close();
    await (await create(`${root}/x/t2m`, array)).close();
    expect(everythingIn(root)).toEqual([".zattrs", ".zgroup", "x/", "x/.zgroup", "x/t2m/", "x/t2m/.zarray"]);
    expect((await openGroup(root)).attributes).toEqual({ title: "mine" });
    await expect(create(`${root}/other`, { ...array, zarrFormat: "v3" })).rejects.toMatchObject({
      code: "invalid-option",
      details: { expected: "v2", found: "v3" },
    });
  });

  test("below an array, or below nothing that can be written", async () => {
    const root = folder.next("a.zarr");
    await (await create(root, array)).close();
    await expect(create(`${root}/x/y`, array)).rejects.toMatchObject({ code: "path-not-allowed" });
    const zip = folder.next("a.zip");
    await (await create(zip, array)).close();
    await expect(create(`${zip}/x`, array)).rejects.toMatchObject({ code: "target-exists" });
    await expect(create(`${zip}/x`, array, { ifExists: "replace" })).rejects.toMatchObject({
      code: "unsupported-operation",
    });
  });

  test("names that a format does not take", async () => {
    const root = folder.next("names.zarr");
    await expect(create(`${root}/__x`, array)).rejects.toMatchObject({ code: "invalid-node-name" });
    const v2 = { ...array, zarrFormat: "v2" } as const;
    await expect(create(`${root}/höhe`, v2)).rejects.toMatchObject({ code: "invalid-node-name" });
    await (await create(`${root}/höhe`, v2, { allowUnicode: true })).close();
    expect((await openArray(`${root}/höhe`)).layout.zarrFormat).toBe("v2");
    expect(existsSync(`${root}/__x`)).toBe(false);
  });

  test("that exists is refused, or stays as it is until it is replaced", async () => {
    const root = folder.next("old.zarr");
    await (await create(root, array)).close();
    await expect(create(root, array)).rejects.toMatchObject({ code: "target-exists" });
    const writer = await create(root, { ...array, shape: [8, 4] }, { ifExists: "replace" });
    await writer.write([[0, 8]], new Int32Array(32).fill(1));
    expect((await openArray(root)).shape).toEqual([4, 4]);
    await writer.close();
    expect((await openArray(root)).shape).toEqual([8, 4]);
    expect(everythingIn(dirname(root)).filter((name) => name.includes("zarrflow"))).toEqual([]);
  });

  test("what is no Zarr is not replaced", async () => {
    const target = folder.next("documents");
    mkdirSync(target, { recursive: true });
    writeFileSync(`${target}/thesis.txt`, "years of work");
    await expect(create(target, array)).rejects.toMatchObject({ code: "target-exists" });
    await expect(create(target, array, { ifExists: "replace" })).rejects.toMatchObject({
      code: "target-not-empty",
    });
    expect(readFileSync(`${target}/thesis.txt`, "utf8")).toBe("years of work");
  });

  test.each(["x.zarr/a/b", "x.zarr.zip/a/b", "x.zip"])("aborting %s leaves nothing", async (name) => {
    const place = folder.next("place");
    mkdirSync(place, { recursive: true });
    const writer = await create(`${place}/${name}`, array);
    await writer.write([], ones);
    await writer.abort();
    expect(everythingIn(place)).toEqual([]);
    await expect(writer.write([], ones)).rejects.toMatchObject({ code: "unsupported-operation" });
    await expect(writer.close()).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  test("aborting a replacement leaves the old one", async () => {
    const root = folder.next("old.zarr");
    const first = await create(root, array);
    await first.write([], ones);
    await first.close();
    const before = everythingIn(root);
    const writer = await create(root, array, { ifExists: "replace" });
    await writer.abort();
    expect(everythingIn(root)).toEqual(before);
    expect((await slice(root).read()).data).toEqual(ones);
  });

  test("a zip, with the documents behind the chunks, and memory", async () => {
    const zip = folder.next("x.zarr.zip");
    for (const url of [`${zip}/a/t2m`, `memory:${folder.path}/a/t2m`.replaceAll("/tmp/", "")]) {
      const writer = await create(url, array);
      await writer.write([], ones);
      await writer.close();
      expect((await slice(url).read()).data).toEqual(ones);
    }
    expect(await namesIn(zip)).toEqual([
      "a/t2m/c/0/0",
      "a/t2m/c/1/0",
      "a/t2m/zarr.json",
      "a/zarr.json",
      "zarr.json",
    ]);
  });

  test("nodes are added to a store in memory that has a name", async () => {
    await (await createGroup("memory:named")).close();
    await (await create("memory:named/a", array)).close();
    await expect(create("memory:named/a", array)).rejects.toMatchObject({ code: "target-exists" });
    expect((await open("memory:named/a")).kind).toBe("array");
  });

  test("a URL that names a format", async () => {
    const root = folder.next("piped");
    await (await create(`${root}|zarr2:t2m`, array)).close();
    expect(everythingIn(root)).toEqual(["t2m/", "t2m/.zarray"]);
    await expect(create(`${root}|zarr2:x`, { ...array, zarrFormat: "v3" })).rejects.toMatchObject({
      code: "invalid-option",
    });
  });

  test("an option that is wrong leaves nothing, and the old one", async () => {
    const root = folder.next("wrong.zarr");
    await (await create(root, array)).close();
    for (const wrong of [
      { dataType: "float23" as "float32" },
      { chunks: [0, 4] },
      { codec: "zstd:5:6" as "zstd:5" },
      { fillValue: 1.5 },
    ]) {
      await expect(create(root, { ...array, ...wrong }, { ifExists: "replace" })).rejects.toThrow();
    }
    await expect(create(root, array, { ifExists: "replace", concurrency: 0 })).rejects.toMatchObject({
      code: "invalid-option",
    });
    expect(everythingIn(dirname(root))).toEqual(["wrong.zarr/", "wrong.zarr/zarr.json"]);
  });
});

describe("a store of the caller's", () => {
  test("gets chunks first, then the documents, from the node upwards", async () => {
    const memory = new MemoryStore();
    const keys: string[] = [];
    const store = withRequestLog(memory, ({ operation, key }) => {
      if (operation === "set") keys.push(key);
    });
    const writer = await create({ store, path: "a/b" }, { ...array, zarrFormat: "v2", attributes: { x: 1 } });
    await writer.write([], ones);
    expect(await keysOf(memory)).toEqual(["a/b/0.0", "a/b/1.0"]);
    await writer.close();
    expect(keys).toEqual(["a/b/0.0", "a/b/1.0", "a/b/.zattrs", "a/b/.zarray", "a/.zgroup", ".zgroup"]);
  });

  test("has nothing left of what was aborted, and keeps what was there", async () => {
    const store = new MemoryStore();
    await (await create({ store, path: "kept" }, array)).close();
    const before = await keysOf(store);
    const writer = await create({ store, path: "a/b" }, array);
    await writer.write([], ones);
    await writer.abort();
    expect(await keysOf(store)).toEqual(before);
  });

  test("loses an old node before the first new chunk, its documents first", async () => {
    const memory = new MemoryStore();
    const old = await create(
      { store: memory, path: "a" },
      { ...array, zarrFormat: "v2", attributes: { x: 1 } },
    );
    await old.write([], ones);
    await old.close();
    const calls: string[] = [];
    const store = withRequestLog(memory, ({ operation, key }) => {
      if (operation === "delete" && key.startsWith("a/")) calls.push(key);
    });
    await expect(create({ store, path: "a" }, array)).rejects.toMatchObject({ code: "target-exists" });
    const writer = await create({ store, path: "a" }, { ...array, shape: [2, 4] }, { ifExists: "replace" });
    expect(calls.filter((key) => /[0-9]/.test(key))).toEqual(["a/0.0", "a/1.0"]);
    expect(calls.indexOf("a/.zarray")).toBeLessThan(calls.indexOf("a/0.0"));
    await writer.close();
    expect(await keysOf(memory)).toEqual([".zgroup", "a/.zarray"]);
  });

  test("that holds stray chunks at the path is refused: they would read as data", async () => {
    const store = new MemoryStore();
    await store.set("a/c/1/0", new Uint8Array(32));
    await expect(create({ store, path: "a" }, array)).rejects.toMatchObject({
      code: "target-not-empty",
      details: { key: "a/c/1/0" },
    });
    await (await create({ store, path: "a" }, array, { ifExists: "replace" })).close();
    expect(await keysOf(store)).toEqual(["a/zarr.json", "zarr.json"]);
  });

  test("that only grows, such as a zip being written, takes a whole hierarchy", async () => {
    const sink = new MemorySink();
    const store = new ZipWriter(sink, "zip in memory");
    const group = await createGroup(store);
    const writer = await group.create("a", array);
    await writer.write([], ones);
    await writer.close();
    await group.close();
    await store.finish();
    const zip = await ZipStore.open(new BytesReader(sink.bytes), "zip in memory");
    expect((await slice(await openArray({ store: zip, path: "a" })).read()).data).toEqual(ones);
  });

  test("that cannot be written is refused", async () => {
    const { get, size } = new MemoryStore();
    await expect(
      create({ store: { get, size, description: "mine" }, path: "a" }, array),
    ).rejects.toMatchObject({
      code: "unsupported-operation",
    });
  });
});

describe("consolidated metadata above stay true", () => {
  test.each(["v2", "v3"] as const)("%s, when an array is added and replaced", async (zarrFormat) => {
    const root = folder.next("consolidated.zarr");
    const group = await createGroup(root, { zarrFormat, attributes: { title: "t" } }, { consolidated: true });
    await (await group.create("a", array)).close();
    await group.close();
    const store = new DirectoryStore(root);
    const paths = async () => {
      if (zarrFormat === "v2") return Object.keys((await jsonAt(store, ".zmetadata")).metadata);
      return Object.keys((await jsonAt(store, "zarr.json")).consolidated_metadata.metadata);
    };
    expect(await paths()).toEqual(zarrFormat === "v2" ? [".zattrs", ".zgroup", "a/.zarray"] : ["a"]);
    await (await create(`${root}/deep/b`, array)).close();
    expect(await paths()).toEqual(
      zarrFormat === "v2"
        ? [".zattrs", ".zgroup", "a/.zarray", "deep/.zgroup", "deep/b/.zarray"]
        : expect.arrayContaining(["a", "deep", "deep/b"]),
    );
    await (await create(`${root}/a`, { ...array, shape: [9, 4] }, { ifExists: "replace" })).close();
    const shapes = [(await openArray({ store, path: "a" })).shape];
    if (zarrFormat === "v2") shapes.push((await jsonAt(store, ".zmetadata")).metadata["a/.zarray"].shape);
    else shapes.push((await jsonAt(store, "zarr.json")).consolidated_metadata.metadata.a.shape);
    expect(shapes).toEqual([
      [9, 4],
      [9, 4],
    ]);
    expect((await openGroup(root)).attributes).toEqual({ title: "t" });
  });
});

describe("the worked examples of the v2 text", () => {
  test("V2-90: documents and chunks, byte for byte", async () => {
    const root = folder.next("example.zarr");
    const writer = await create(root, {
      zarrFormat: "v2",
      shape: [20, 20],
      chunks: [10, 10],
      dataType: "<i4",
      fillValue: 42,
      codec: "zlib:1",
    });
    await writer.write(
      [
        [0, 10],
        [0, 10],
      ],
      new Int32Array(100).fill(1),
    );
    await writer.write(
      [
        [0, 10],
        [10, 20],
      ],
      new Int32Array(100).fill(2),
    );
    await writer.write(
      [
        [10, 20],
        [0, 20],
      ],
      new Int32Array(200).fill(3),
    );
    await writer.close();
    expect(everythingIn(root)).toEqual([".zarray", "0.0", "0.1", "1.0", "1.1"]);
    const zarray = readFileSync(`${root}/.zarray`);
    expect(zarray.length).toBe(264);
    expect(inflateSync(readFileSync(`${root}/0.0`))).toEqual(Buffer.from(new Int32Array(100).fill(1).buffer));
    await setAttributes(await open(root), { foo: 42, bar: "apples", baz: [1, 2, 3, 4] });
    expect(readFileSync(`${root}/.zattrs`).length).toBe(101);
    expect(
      createHash("sha256")
        .update(readFileSync(`${root}/.zarray`))
        .digest("hex"),
    ).toBe(createHash("sha256").update(zarray).digest("hex"));
  });

  test.each(["g.zarr", "g.zarr.zip"])("V2-91: exactly these keys, in %s", async (name) => {
    const root = folder.next(name);
    await writeSpecExample(await createGroup(root, { zarrFormat: "v2" }));
    const store = name.endsWith(".zip") ? await openZipFile(root) : new DirectoryStore(root);
    expect(await keysOf(store)).toEqual([
      ".zgroup",
      "foo/.zgroup",
      "foo/bar/.zarray",
      "foo/bar/.zattrs",
      "foo/bar/0.0",
      "foo/bar/0.1",
      "foo/bar/1.0",
      "foo/bar/1.1",
    ]);
    expect((await store.get(".zgroup"))?.length).toBe(24);
  });
});

/** Names of the entries of a zip, in the order in which they were written. */
function namesIn(zip: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    yauzl.open(zip, (error, file) => {
      if (error) return reject(error);
      const names: string[] = [];
      file.on("entry", (entry: yauzl.Entry) => names.push(entry.fileName));
      file.on("end", () => resolve(names));
    });
  });
}
