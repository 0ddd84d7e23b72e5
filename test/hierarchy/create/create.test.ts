import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import yauzl from "yauzl";
import {
  create,
  createGroup,
  like,
  type NewArray,
  open,
  openArray,
  openGroup,
  setAttributes,
  slice,
  type ZarrArray,
} from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { openZipFile, ZipStore, ZipWriter } from "../../../src/stores/zip.ts";
import { BytesReader } from "../../stores/bytes-reader.ts";
import { MemorySink } from "../../stores/memory-sink.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection } from "../../streams/support.ts";
import { keysOf } from "../../support/consume.ts";
import { writeSpecExample } from "../../support/spec-example.ts";
import { codeOf, everythingIn, logged } from "../keys.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

const array = { shape: [4, 4], dataType: "int32", chunks: [2, 4] } as const;
const ones = new Int32Array(16).fill(1);
const ifExists = "replace";

async function made<T extends Parameters<typeof create>[0]>(
  target: T,
  more: Partial<NewArray> = {},
): Promise<T> {
  const writer = await create(target, { ...array, ...more });
  await writer.write([], ones);
  await writer.close();
  return target;
}

describe("an array at a URL", () => {
  test("is built beside its name, with the groups above that are missing", async () => {
    const root = folder.next("out.zarr");
    const writer = await create(`${root}/a/b`, array);
    await writer.write([], ones);
    const shown = everythingIn(dirname(root)).filter((name) => !name.includes(".zarrflow-"));
    expect(shown).toEqual(["out.zarr/", "out.zarr/a/"]);
    await writer.close();
    expect(everythingIn(dirname(root)).filter((name) => !name.endsWith("/"))).toEqual([
      ...["out.zarr/a/b/c/0/0", "out.zarr/a/b/c/1/0"],
      ...["out.zarr/a/b/zarr.json", "out.zarr/a/zarr.json", "out.zarr/zarr.json"],
    ]);
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
    const refused = { code: "invalid-option", details: { expected: "v2", found: "v3" } };
    expect(await rejection(create(`${root}/other`, { ...array, zarrFormat: "v3" }))).toMatchObject(refused);
  });

  test("is refused below an array, in a zip that is there, and by names that the format does not take", async () => {
    const root = await made(folder.next("a.zarr"));
    expect(await codeOf(create(`${root}/x/y`, array))).toBe("path-not-allowed");
    const zip = await made(folder.next("a.zip"));
    expect(await codeOf(create(`${zip}/x`, array))).toBe("target-exists");
    expect(await codeOf(create(`${zip}/x`, array, { ifExists }))).toBe("unsupported-operation");
    const names = folder.next("names.zarr");
    expect(await codeOf(create(`${names}/__x`, array))).toBe("invalid-node-name");
    expect(existsSync(`${names}/__x`)).toBe(false);
    const v2 = { ...array, zarrFormat: "v2" } as const;
    expect(await codeOf(create(`${names}/höhe`, v2))).toBe("invalid-node-name");
    await (await create(`${names}/höhe`, v2, { allowUnicode: true })).close();
    expect((await openArray(`${names}/höhe`)).layout.zarrFormat).toBe("v2");
  });

  test("that exists is refused, or stays as it is until it is replaced, or if that is aborted", async () => {
    const root = await made(folder.next("old.zarr"));
    expect(await codeOf(create(root, array))).toBe("target-exists");
    const before = everythingIn(root);
    await (await create(root, array, { ifExists })).abort();
    expect(everythingIn(root)).toEqual(before);
    expect((await slice(root).read()).data).toEqual(ones);
    const writer = await create(root, { ...array, shape: [8, 4] }, { ifExists });
    await writer.write([[0, 8]], new Int32Array(32).fill(1));
    expect((await openArray(root)).shape).toEqual([4, 4]);
    await writer.close();
    expect((await openArray(root)).shape).toEqual([8, 4]);
    expect(everythingIn(dirname(root)).filter((name) => name.includes("zarrflow"))).toEqual([]);
  });

  test("does not replace what is no Zarr", async () => {
    const target = folder.next("documents");
    mkdirSync(target, { recursive: true });
    writeFileSync(`${target}/thesis.txt`, "years of work");
    expect(await codeOf(create(target, array))).toBe("target-exists");
    expect(await codeOf(create(target, array, { ifExists }))).toBe("target-not-empty");
    expect(readFileSync(`${target}/thesis.txt`, "utf8")).toBe("years of work");
  });

  test.each(["x.zarr/a/b", "x.zarr.zip/a/b", "x.zip"])(
    "leaves nothing of %s when it is aborted",
    async (name) => {
      const place = folder.next("place");
      mkdirSync(place, { recursive: true });
      const writer = await create(`${place}/${name}`, array);
      await writer.write([], ones);
      await writer.abort();
      expect(everythingIn(place)).toEqual([]);
      expect(await codeOf(writer.write([], ones))).toBe("unsupported-operation");
      expect(await codeOf(writer.close())).toBe("unsupported-operation");
    },
  );

  test("may be in a zip, with the documents behind the chunks, or in memory, which has a name", async () => {
    const zip = folder.next("x.zarr.zip");
    for (const url of [`${zip}/a/t2m`, `memory:${folder.path}/a/t2m`.replaceAll("/tmp/", "")]) {
      expect((await slice(await made(url)).read()).data).toEqual(ones);
    }
    expect(await namesIn(zip)).toEqual([
      ...["a/t2m/c/0/0", "a/t2m/c/1/0", "a/t2m/zarr.json", "a/zarr.json", "zarr.json"],
    ]);
    await (await createGroup("memory:named")).close();
    await made("memory:named/a");
    expect(await codeOf(create("memory:named/a", array))).toBe("target-exists");
    expect((await open("memory:named/a")).kind).toBe("array");
  });

  test("is of the format that the URL names", async () => {
    const root = folder.next("piped");
    await (await create(`${root}|zarr2:t2m`, array)).close();
    expect(everythingIn(root)).toEqual(["t2m/", "t2m/.zarray"]);
    expect(await codeOf(create(`${root}|zarr2:x`, { ...array, zarrFormat: "v3" }))).toBe("invalid-option");
  });

  test("stays as it is where an option is wrong", async () => {
    const root = folder.next("wrong.zarr");
    await (await create(root, array)).close();
    for (const [wrong, code] of [
      [{ dataType: "float23" as "float32" }, "unsupported-data-type"],
      [{ chunks: [0, 4] }, "invalid-option"],
      [{ codec: "zstd:5:6" as "zstd:5" }, "invalid-option"],
      [{ fillValue: 1.5 }, "invalid-option"],
    ] as const)
      expect(await codeOf(create(root, { ...array, ...wrong }, { ifExists }))).toBe(code);
    expect(await codeOf(create(root, array, { ifExists, concurrency: 0 }))).toBe("invalid-option");
    expect(everythingIn(dirname(root))).toEqual(["wrong.zarr/", "wrong.zarr/zarr.json"]);
  });
});

describe("an array in a store of the caller's", () => {
  const v2 = { zarrFormat: "v2", attributes: { x: 1 } } as const;

  test("gets chunks first, then the documents, from the node upwards", async () => {
    const { store, taken } = logged(new MemoryStore(), "set");
    const writer = await create({ store, path: "a/b" }, { ...array, ...v2 });
    await writer.write([], ones);
    const chunks = ["set a/b/0.0", "set a/b/1.0"];
    expect(taken()).toEqual(chunks);
    await writer.close();
    expect(taken()).toEqual(["set a/b/.zattrs", "set a/b/.zarray", "set a/.zgroup", "set .zgroup"]);
  });

  test("leaves nothing when it is aborted, and keeps what was there", async () => {
    const { store } = await made({ store: new MemoryStore(), path: "kept" });
    const before = await keysOf(store);
    const writer = await create({ store, path: "a/b" }, array);
    await writer.write([], ones);
    await writer.abort();
    expect(await keysOf(store)).toEqual(before);
  });

  test("loses the old node before the first new chunk, its documents first", async () => {
    const memory = new MemoryStore();
    await made({ store: memory, path: "a" }, v2);
    const { store, taken } = logged(memory, "delete");
    expect(await codeOf(create({ store, path: "a" }, array))).toBe("target-exists");
    const writer = await create({ store, path: "a" }, { ...array, shape: [2, 4] }, { ifExists });
    const calls = taken();
    expect(calls.filter((call) => /[0-9]/.test(call))).toEqual(["delete a/0.0", "delete a/1.0"]);
    expect(calls.indexOf("delete a/.zarray")).toBeLessThan(calls.indexOf("delete a/0.0"));
    await writer.close();
    expect(await keysOf(memory)).toEqual([".zgroup", "a/.zarray"]);
  });

  test("is refused among stray chunks at its path: they would read as data", async () => {
    const store = new MemoryStore();
    await store.set("a/c/1/0", new Uint8Array(32));
    const refused = { code: "target-not-empty", details: { key: "a/c/1/0" } };
    expect(await rejection(create({ store, path: "a" }, array))).toMatchObject(refused);
    await (await create({ store, path: "a" }, array, { ifExists })).close();
    expect(await keysOf(store)).toEqual(["a/zarr.json", "zarr.json"]);
  });

  test("may be in a store that only grows, such as a zip, and not in one that cannot be written", async () => {
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
    const { get, size } = new MemoryStore();
    const refused = create({ store: { get, size, description: "mine" }, path: "a" }, array);
    expect(await codeOf(refused)).toBe("unsupported-operation");
  });
});

describe("the worked examples of the v2 text", () => {
  test("V2-90: documents and chunks, byte for byte", async () => {
    const root = folder.next("example.zarr");
    const grid = { shape: [20, 20], chunks: [10, 10], dataType: "<i4" } as const;
    const writer = await create(root, { ...grid, zarrFormat: "v2", fillValue: 42, codec: "zlib:1" });
    await writer.write({ start: [0, 0], shape: [10, 10] }, new Int32Array(100).fill(1));
    await writer.write({ start: [0, 10], shape: [10, 10] }, new Int32Array(100).fill(2));
    await writer.write({ start: [10, 0], shape: [10, 20] }, new Int32Array(200).fill(3));
    await writer.close();
    expect(everythingIn(root)).toEqual([".zarray", "0.0", "0.1", "1.0", "1.1"]);
    const zarray = readFileSync(`${root}/.zarray`);
    expect(zarray).toHaveLength(264);
    expect(inflateSync(readFileSync(`${root}/0.0`))).toEqual(Buffer.from(new Int32Array(100).fill(1).buffer));
    await setAttributes(await open(root), { foo: 42, bar: "apples", baz: [1, 2, 3, 4] });
    expect(readFileSync(`${root}/.zattrs`)).toHaveLength(101);
    expect(readFileSync(`${root}/.zarray`)).toEqual(zarray);
  });

  test.each(["g.zarr", "g.zarr.zip"])("V2-91: exactly these keys, in %s", async (name) => {
    const root = folder.next(name);
    await writeSpecExample(await createGroup(root, { zarrFormat: "v2" }));
    const store = name.endsWith(".zip") ? await openZipFile(root) : new DirectoryStore(root);
    expect(await keysOf(store)).toEqual([
      ...[".zgroup", "foo/.zgroup", "foo/bar/.zarray", "foo/bar/.zattrs"],
      ...["foo/bar/0.0", "foo/bar/0.1", "foo/bar/1.0", "foo/bar/1.1"],
    ]);
    expect(await store.size(".zgroup")).toBe(24);
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

describe("what describes an array", () => {
  const right = { shape: [4], chunks: [2], dataType: "uint8" } as const;
  const sparse: number[] = [];
  sparse[3] = 1;

  test.each(
    Object.entries({
      shape: [5, null, "4", ["4"], [null], { length: 1 }, sparse],
      chunks: [5, null, undefined, ["a"], {}],
      shards: [5, "x", ["4"], null],
      codec: [5, {}, { name: 5 }, [], true],
      codecs: [5, "gzip", [5], [null], [undefined], [[]]],
      order: ["Z", 5],
      separator: ["x", 5],
      dimensionNames: [5, "x", {}, [5]],
      attributes: [5, "x", [], null],
    }),
  )("is rejected with a %s that is wrong: %j", async (name, values) => {
    for (const value of values) {
      const array = { ...right, [name]: value } as unknown as NewArray;
      expect(await codeOf(create(new MemoryStore(), array)), JSON.stringify(value)).toBe("invalid-option");
    }
  });

  test("is taken where it is right", async () => {
    const names = { separator: ".", dimensionNames: [null], attributes: {} } as const;
    for (const more of [
      { ...names, shards: [4], codecs: ["crc32c"] },
      { codec: "gzip:1", order: "F" },
    ] as const)
      await (await create(new MemoryStore(), { ...right, ...more })).close();
  });
});

describe("like", () => {
  async function made(array: NewArray): Promise<ZarrArray> {
    const store = new MemoryStore();
    await (await create(store, array)).close();
    return openArray(store);
  }

  /** Metadata without the words in which a document stated them. */
  const shown = ({ metadata, layout }: ZarrArray) =>
    JSON.parse(
      JSON.stringify({ ...metadata, zarrFormat: layout.zarrFormat }, (name, value) =>
        name === "stated" || name === "original" ? undefined : value,
      ),
    );

  const grid = { shape: [6, 8], chunks: [3, 4] };
  const v2 = { ...grid, zarrFormat: "v2" } as const;
  const filters = [
    { id: "delta", dtype: ">i4" },
    { id: "zlib", level: 3 },
  ];
  const fields: NewArray["dataType"] = [
    ["a", "<i2"],
    ["b", "<f8", [2]],
  ];

  test.each<[string, NewArray]>([
    ["v3", { ...grid, dataType: "float32", fillValue: Number.NaN, dimensionNames: ["y", null] }],
    ["shards", { ...grid, dataType: "int16", shards: [6, 4], codec: "zstd:7" }],
    ["F order", { ...grid, dataType: "complex64", order: "F", fillValue: [1, -0] }],
    ["filters of v2", { ...v2, dataType: ">i4", codecs: filters }],
    ["no fill value", { ...v2, dataType: "datetime64[s]", fillValue: null, attributes: { big: 2n ** 60n } }],
    ["fields", { ...v2, dataType: fields }],
    ["strings", { ...grid, dataType: "string", fillValue: "ä" }],
    ["v1", { ...grid, zarrFormat: "v1", dataType: "uint8" }],
    ["the draft", { ...grid, zarrFormat: "v3-draft-2019", dataType: "bool", fillValue: true }],
    ["a scalar", { shape: [], chunks: [], dataType: "int64", fillValue: 2n ** 62n }],
  ])("describes an array with %s just as it is", async (_, array) => {
    const source = await made(array);
    expect(shown(await made(like(source)))).toEqual(shown(source));
  });

  test("gives way to what is given beside it, and takes open arrays alone", async () => {
    const source = await made({ ...grid, dataType: "int16", attributes: { units: "K" }, codec: "gzip:1" });
    const other = { chunks: [6, 8], dataType: "float64", attributes: {}, zarrFormat: "v2" } as const;
    const { shape, chunkShape, dataType, attributes, layout } = await made({ ...like(source), ...other });
    expect({ chunks: chunkShape, dataType, attributes, zarrFormat: layout.zarrFormat }).toEqual(other);
    expect(shape).toEqual([6, 8]);
    expect(() => like("a.zarr" as never)).toThrow(expect.objectContaining({ code: "invalid-option" }));
  });
});
