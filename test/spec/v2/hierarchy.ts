import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { expect } from "vitest";
import {
  children,
  copy,
  create,
  createGroup,
  deleteNode,
  open,
  openArray,
  setAttributes,
  slice,
  walk,
} from "../../../src/index.ts";
import { v2Format } from "../../../src/meta/v2/v2.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { HttpStore } from "../../../src/stores/http.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { Store } from "../../../src/stores/store.ts";
import { openStore } from "../../../src/stores/url.ts";
import { ZipStore } from "../../../src/stores/zip.ts";
import { UnlistedStore } from "../../hierarchy/stores.ts";
import { BytesReader } from "../../stores/bytes-reader.ts";
import { type Manners, serveValues } from "../../stores/value-server.ts";
import { type ArchiveDraft, buildZip, type EntryDraft } from "../../stores/zip/build-zip.ts";
import { writeSpecExample } from "../../support/spec-example.ts";
import { type Row, refused, row } from "../rows.ts";
import {
  type Content,
  codecsIn,
  fillIn,
  hex,
  jsonAt,
  nodeIn,
  opens,
  sortedKeys,
  storeOf,
  textAt,
} from "../stores.ts";
import { array, bytes, group, made, ZARRAY, ZGROUP } from "./kit.ts";

const EMPTY = { ".zgroup": ZGROUP };

/** Kinds and paths of all nodes below the root. */
async function membersIn(content: Content): Promise<string[]> {
  const node = await nodeIn(content);
  const members: string[] = [];
  if (node.kind === "group") for await (const { kind, path } of walk(node)) members.push(`${kind} ${path}`);
  return members;
}

/** Keys that are left when the node at a path is deleted. */
async function keysWithout(content: Content, path: string): Promise<string[]> {
  const store = await storeOf(content);
  await deleteNode(await open({ store, path }));
  return sortedKeys(store);
}

async function copiedKeys(content: Content): Promise<string[]> {
  await copy(await nodeIn(content), "memory:spec-v2-copy", { ifExists: "replace" });
  return sortedKeys((await openStore({ kind: "memory", name: "spec-v2-copy" })) as MemoryStore);
}

/** Reads an array of two bytes by `get` and `size` alone. */
async function readUnlisted(): Promise<unknown> {
  const array = await openArray(new UnlistedStore(await storeOf(bytes(2, {}, "0102"))));
  return (await slice(array).read()).data;
}

/** Deletes a node where nothing can be listed; keys that are left. */
async function deletedUnlisted(content: Content): Promise<string[]> {
  const inner = await storeOf(content);
  const store: Store = {
    description: "unlisted",
    get: (key, options) => inner.get(key, options),
    size: (key) => inner.size(key),
  };
  const writable = Object.assign(store, {
    set: inner.set.bind(inner),
    openWriter: inner.openWriter.bind(inner),
    delete: inner.delete.bind(inner),
  });
  await deleteNode(await open(writable));
  return sortedKeys(inner);
}

async function dimensionNames(attributes: object): Promise<unknown[]> {
  const node = await openArray(await storeOf(array({}, { ".zattrs": attributes })));
  return [node.dimensionNames, node.attributes, node.findings.length];
}

const unchanged = {
  units: "K",
  _CRS: { url: "x" },
  multiscales: [{ version: "0.1", datasets: [{ path: "0" }] }],
};
const attributesIn = async (attributes: object) =>
  (await nodeIn(group({}, { ".zattrs": attributes }))).attributes;

export const hierarchyRows: readonly Row[] = [
  row("V2-1", "reading needs no listing", hex("0102"), readUnlisted),
  row(
    "V2-2",
    "keys lie below the path",
    ["foo/bar/.zattrs", "foo/bar/.zarray", "foo/bar/.zgroup"],
    () => v2Format().layout("foo/bar").documentKeys,
  ),
  row("V2-2", "and its chunks", ["foo/bar/"], () => v2Format().layout("foo/bar").prefixes),
  row("V2-3", "an array goes with its keys", [".zgroup", "ab/.zgroup"], () =>
    keysWithout({ ...EMPTY, "a/.zarray": ZARRAY, "a/0.0": "x", "a/other": "x", "ab/.zgroup": ZGROUP }, "a"),
  ),
  row("V2-3", "and with those of its grid where nothing lists", ["other"], () =>
    deletedUnlisted(array({}, { "0.0": "x", "1.1": "x", other: "x" })),
  ),
  row("V2-3", "a group does not", refused("unsupported-operation", { path: "" }), () =>
    deletedUnlisted(group()),
  ),
  row("V2-70", "paths have a normal form", expect.objectContaining({ path: "foo/bar" }), () =>
    nodeIn({ "foo/bar/.zgroup": ZGROUP }, "\\/foo//bar\\"),
  ),
  row("V2-71", "..", refused("path-not-allowed", { path: "foo/..", value: ".." }), () =>
    nodeIn(group(), "foo/.."),
  ),
  row("V2-71", ".", refused("path-not-allowed", { path: ".", value: "." }), () => nodeIn(group(), ".")),
  row("V2-71", "... is allowed", "group", () => opens({ ".../.zgroup": ZGROUP }, "...")),
  row("V2-72", "beyond ASCII", refused("invalid-node-name", { path: "é" }), () => made("é")),
  row("V2-72", "where it is allowed", [".zgroup", "é/.zarray"], () => made("é", {}, { allowUnicode: true })),
  row("V2-72", "is read", "group", () => opens({ "é/.zgroup": ZGROUP }, "é")),
  row("V2-73", "a group's document has 24 bytes", 24, () => sizeIn(made("a"), ".zgroup")),
  row("V2-74", "groups above are made", [".zgroup", "a/.zgroup", "a/b/.zgroup", "a/b/c/.zarray"], () =>
    made("a/b/c"),
  ),
  row("V2-74", "none above the root", [".zarray"], () => made("")),
  row("V2-74", "those that are there stay", '{"zarr_format":2,"x":1}', async () =>
    textAt(await made("a/b", {}, { content: { "a/.zgroup": '{"zarr_format":2,"x":1}' } }), "a/.zgroup"),
  ),
  row("V2-74", "below an array", refused("path-not-allowed", { path: "x" }), () =>
    made("x", {}, { content: array() }),
  ),
  row("V2-74", "far below an array", refused("path-not-allowed", { path: "a/b/x" }), () =>
    made("a/b/x", {}, { content: { "a/.zarray": ZARRAY } }),
  ),
  row("V2-74", "over a node", refused("target-exists", { path: "x" }), () =>
    made("x", {}, { content: { "x/.zgroup": ZGROUP } }),
  ),
  row("V2-75", "members have documents", ["group foo", "group foo/bar", "array foo/baz"], () =>
    membersIn({
      ...EMPTY,
      "foo/.zgroup": ZGROUP,
      "foo/bar/.zgroup": ZGROUP,
      "foo/baz/.zarray": ZARRAY,
      "bare/file": "x",
    }),
  ),
  row("V2-75", "an array wins", "array", async () => (await nodeIn({ ...array(), ...EMPTY })).kind),
  row("V2-76", "no group above is needed", "array", () => opens({ "a/b/.zarray": ZARRAY }, "a/b")),
  row("V2-76", "groups without documents are walked", ["group a", "array a/b"], () =>
    membersIn({ ...EMPTY, "a/b/.zarray": ZARRAY }),
  ),
  row("V2-78", "consolidated metadata alone", "array", () =>
    opens({ ".zmetadata": { zarr_consolidated_format: 1, metadata: { "a/.zarray": ZARRAY } } }, "a"),
  ),
  row("V2-100", "names of dimensions", [["y", "x"], { a: 1 }, 0], () =>
    dimensionNames({ _ARRAY_DIMENSIONS: ["y", "x"], a: 1 }),
  ),
  ...[["x"], "x", [1, 2]].map((names) =>
    row("V2-100", `${JSON.stringify(names)} is none`, [undefined, { _ARRAY_DIMENSIONS: names }, 1], () =>
      dimensionNames({ _ARRAY_DIMENSIONS: names }),
    ),
  ),
  ...["V2-101", "V2-103", "V2-104"].map((id) =>
    row(id, "attributes are handed on as they are", unchanged, () => attributesIn(unchanged)),
  ),
  row("V2-102", "NCZarr's documents are ignored", ["array a"], () =>
    membersIn({ ...EMPTY, ".nczgroup": "{}", "a/.zarray": ZARRAY, "a/.nczarray": "{}" }),
  ),
  row("V2-102", "and copied", [".nczgroup", ".zgroup", "a/.nczarray", "a/.zarray"], () =>
    copiedKeys({ ...EMPTY, ".nczgroup": "{}", "a/.zarray": ZARRAY, "a/.nczarray": "{}" }),
  ),
];

async function inFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "zarrflow-spec-"));
  try {
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const keysInFolder = () =>
  inFolder(async (folder) => {
    const store = new DirectoryStore(folder);
    await store.set("a/0.0", hex("01"));
    await store.set("a/0.0", hex("02"));
    return (await readdir(folder, { recursive: true })).sort();
  });

const folderInPlaceOfKey = () =>
  inFolder(async (folder) => {
    await mkdir(join(folder, "a/0.0"), { recursive: true });
    return new DirectoryStore(folder).get("a/0.0");
  });

/** An array of two chunks beside each other, in folders; what it states of its separator. */
async function read(stated: string | undefined, told: "." | "/"): Promise<unknown> {
  const members = { shape: [1, 2], chunks: [1, 1], dtype: "|u1", dimension_separator: stated };
  const store = await storeOf(array(members, { "0/0": hex("05"), "0/1": hex("06"), "0.0": hex("07") }));
  const node = await openArray({ store, path: "" }, { v2: { separator: told } });
  return Array.from((await slice(node).read()).data as Iterable<unknown>);
}

const value = (text: string) => new TextEncoder().encode(text);
const textIn = async (store: Store, key: string) => {
  const found = await store.get(key);
  return found && new TextDecoder().decode(found);
};

async function zipOf(entries: readonly EntryDraft[], archive?: ArchiveDraft): Promise<ZipStore> {
  return ZipStore.open(new BytesReader(buildZip(entries, archive)), "zip");
}

async function zipped(entry: Partial<EntryDraft>, archive?: ArchiveDraft): Promise<unknown> {
  return textIn(await zipOf([{ name: "größe/0.0", value: value("x"), ...entry }], archive), "größe/0.0");
}

async function wrapped(): Promise<unknown> {
  const name = (key: string) => ({ name: `data.zarr/${key}`, value: value(JSON.stringify(ZARRAY)) });
  return open(await zipOf([name(".zarray")]));
}

/** What a read of a part by HTTP asks for, and gives. */
async function byHttp(key: string, { query = "", ...manners }: Manners & { query?: string } = {}) {
  const server = await serveValues(new Map([["größe/0.0", value("0123456789")]]), manners);
  try {
    const found = await new HttpStore(server.url + query).get(key, { range: { offset: 2, length: 3 } });
    return [server.requests[0]?.url, found && new TextDecoder().decode(found)];
  } finally {
    await server.close();
  }
}

async function listedByHttp(): Promise<unknown> {
  const server = await serveValues(new Map([[".zgroup", value('{"zarr_format": 2}')]]));
  try {
    const node = await open(server.url);
    if (node.kind === "group") for await (const _ of children(node));
    return "listed";
  } finally {
    await server.close();
  }
}

export const storeRows: readonly Row[] = [
  row("V2-80", "files of a folder, and nothing beside them", ["a", "a/0.0"], keysInFolder),
  row("V2-80", "a folder in a key's place", undefined, folderInPlaceOfKey),
  row("V2-81", "the separator that the opener gives", [5, 6], () => read(undefined, "/")),
  row("V2-81", "a slash that is stated", [5, 6], () => read("/", ".")),
  row("V2-81", "a dot that is stated", [7, 0], () => read(".", "/")),
  row("V2-81", "is stated where it is created", "/", async () => {
    const store = await storeOf({});
    const made = { zarrFormat: "v2", shape: [2], chunks: [1], dataType: "uint8", separator: "/" } as const;
    await (await create(store, made)).close();
    return (await jsonAt(store, ".zarray")).dimension_separator;
  }),
  row("V2-82", "a stored entry, its name in UTF-8", "x", () => zipped({})),
  row("V2-82", "a deflated one", "x", () => zipped({ method: 8 })),
  row("V2-82", "zip64", "x", () => zipped({}, { zip64: true })),
  row("V2-82", "a data descriptor", "x", () => zipped({ descriptor: true })),
  row("V2-82", "the later of two entries of a name", "y", async () =>
    textIn(await zipOf(["x", "y"].map((text) => ({ name: "a", value: value(text) }))), "a"),
  ),
  row("V2-82", "no directory at the end", refused("corrupt-store"), () =>
    ZipStore.open(new BytesReader(new Uint8Array(100)), "zip"),
  ),
  row("V2-82", "a folder zipped with its own name", refused("not-found"), wrapped),
  row("V2-83", "keys percent-encoded", ["/data/gr%C3%B6%C3%9Fe/0.0", "234"], () => byHttp("größe/0.0")),
  row("V2-83", "a query of the root on every request", ["/data/gr%C3%B6%C3%9Fe/0.0?token=1", "234"], () =>
    byHttp("größe/0.0", { query: "?token=1" }),
  ),
  row("V2-83", "no length ahead and no ranges", [expect.anything(), "234"], () =>
    byHttp("größe/0.0", { ignoresRanges: true, hidesLength: true }),
  ),
  row("V2-83", "no listing", refused("unsupported-operation"), listedByHttp),
];

/** The first example: 1 in one quarter, 2 beside it, 3 below, where as many quarters are written. */
async function written(quarters: 1 | 3): Promise<MemoryStore> {
  const store = new MemoryStore();
  const array = {
    shape: [20, 20],
    chunks: [10, 10],
    dataType: "<i4",
    fillValue: 42,
    codec: "zlib:1",
  } as const;
  const writer = await create(store, { zarrFormat: "v2", ...array });
  const [first, second] = [
    [0, 10],
    [10, 20],
  ] as const;
  await writer.write([first, first], new Int32Array(100).fill(1));
  if (quarters === 3) {
    await writer.write([first, second], new Int32Array(100).fill(2));
    await writer.write([second, [0, 20]], new Int32Array(200).fill(3));
  }
  await writer.close();
  return store;
}

async function attributed(): Promise<MemoryStore> {
  const store = await written(1);
  await setAttributes(await open(store), { foo: 42, bar: "apples", baz: [1, 2, 3, 4] });
  return store;
}

async function hierarchy(): Promise<MemoryStore> {
  const store = new MemoryStore();
  await writeSpecExample(await createGroup(store, { zarrFormat: "v2" }));
  return store;
}

const KEYS_OF_BAR = [".zarray", ".zattrs", "0.0", "0.1", "1.0", "1.1"].map((key) => `foo/bar/${key}`);
const sizeIn = async (store: Promise<MemoryStore>, key: string) => (await store).size(key);

const THIRD = {
  ".zarray": {
    ...{ zarr_format: 2, shape: [10_000, 10_000], chunks: [1000, 1000], dtype: "<f8", order: "C" },
    compressor: { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 },
    fill_value: "NaN",
    filters: [{ id: "delta", dtype: "<f8", astype: "<f4" }],
  },
};

const CODECS_OF_THIRD = [
  ["bytes", { endian: "little" }],
  ["delta", { dtype: "<f8", astype: "<f4" }],
  ["blosc", expect.objectContaining({ cname: "lz4", clevel: 5, shuffle: "shuffle" })],
];

export const exampleRows: readonly Row[] = [
  row("V2-90", "264 bytes of metadata", 264, () => sizeIn(written(1), ".zarray")),
  row("V2-90", "no attributes so far", [".zarray", "0.0"], () => written(1)),
  row("V2-90", "four chunks", [".zarray", "0.0", "0.1", "1.0", "1.1"], () => written(3)),
  row("V2-90", "a chunk of ones", true, async () =>
    inflateSync((await (await written(1)).get("0.0")) ?? "").equals(
      Buffer.from(Int32Array.from({ length: 100 }, () => 1).buffer),
    ),
  ),
  row("V2-90", "101 bytes of attributes", 101, () => sizeIn(attributed(), ".zattrs")),
  row("V2-91", "exactly these keys", [".zgroup", ...KEYS_OF_BAR, "foo/.zgroup"].sort(), hierarchy),
  row("V2-92", "its codecs", CODECS_OF_THIRD, () => codecsIn(THIRD)),
  row("V2-92", "its fill value", Number.NaN, () =>
    fillIn({ ".zarray": { ...THIRD[".zarray"], shape: [1, 1] } }),
  ),
];
