import { copy, deleteNode, open, openArray, slice, walk } from "../../../src/index.ts";
import { v2Format } from "../../../src/meta/v2/v2.ts";
import type { MemoryStore } from "../../../src/stores/memory.ts";
import type { Store } from "../../../src/stores/store.ts";
import { openStore } from "../../../src/stores/url.ts";
import { UnlistedStore } from "../../hierarchy/stores.ts";
import { type Row, refused } from "../rows.ts";
import { type Content, hex, nodeIn, opens, sortedKeys, storeOf, textAt } from "../stores.ts";
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
  const array = await openArray(new UnlistedStore(await storeOf(bytes(2, {}, hex("0102")))));
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

const KEYS = ["documentKeys", "prefixes"] as const;
const layout = (path: string) => KEYS.map((name) => v2Format().layout(path)[name]);
const unchanged = {
  units: "K",
  _CRS: { url: "x" },
  multiscales: [{ version: "0.1", datasets: [{ path: "0" }] }],
};
const attributesIn = async (attributes: object) =>
  (await nodeIn(group({}, { ".zattrs": attributes }))).attributes;

export const hierarchyRows: readonly Row[] = [
  ["V2-1", "reading needs no listing", readUnlisted, hex("0102")],
  [
    "V2-2",
    "keys lie below the path",
    () => layout("foo/bar"),
    [["foo/bar/.zattrs", "foo/bar/.zarray", "foo/bar/.zgroup"], ["foo/bar/"]],
  ],
  [
    "V2-3",
    "an array goes with its keys",
    () =>
      keysWithout({ ...EMPTY, "a/.zarray": ZARRAY, "a/0.0": "x", "a/other": "x", "ab/.zgroup": ZGROUP }, "a"),
    [".zgroup", "ab/.zgroup"],
  ],
  [
    "V2-3",
    "and with those of its grid where nothing lists",
    () => deletedUnlisted(array({}, { "0.0": "x", "1.1": "x", other: "x" })),
    ["other"],
  ],
  [
    "V2-3",
    "a group does not",
    () => deletedUnlisted(group()),
    refused("unsupported-operation", { path: "" }),
  ],
  [
    "V2-70",
    "paths have a normal form",
    async () => (await nodeIn({ "foo/bar/.zgroup": ZGROUP }, "\\/foo//bar\\")).path,
    "foo/bar",
  ],
  [
    "V2-71",
    "..",
    () => nodeIn(group(), "foo/.."),
    refused("path-not-allowed", { path: "foo/..", value: ".." }),
  ],
  ["V2-71", ".", () => nodeIn(group(), "."), refused("path-not-allowed", { path: ".", value: "." })],
  ["V2-71", "... is allowed", () => opens({ ".../.zgroup": ZGROUP }, "..."), "group"],
  ["V2-72", "beyond ASCII", () => made("é"), refused("invalid-node-name", { path: "é" })],
  [
    "V2-72",
    "where it is allowed",
    async () => sortedKeys(await made("é", {}, { allowUnicode: true })),
    [".zgroup", "é/.zarray"],
  ],
  ["V2-72", "is read", () => opens({ "é/.zgroup": ZGROUP }, "é"), "group"],
  [
    "V2-73",
    "a group's document has 24 bytes",
    async () => (await textAt(await made("a"), ".zgroup")).length,
    24,
  ],
  [
    "V2-74",
    "groups above are made",
    async () => sortedKeys(await made("foo/bar/baz")),
    [".zgroup", "foo/.zgroup", "foo/bar/.zgroup", "foo/bar/baz/.zarray"],
  ],
  ["V2-74", "none above the root", async () => sortedKeys(await made("")), [".zarray"]],
  [
    "V2-74",
    "those that are there stay",
    async () =>
      textAt(await made("a/b", {}, { content: { "a/.zgroup": '{"zarr_format":2,"x":1}' } }), "a/.zgroup"),
    '{"zarr_format":2,"x":1}',
  ],
  [
    "V2-74",
    "below an array",
    () => made("x", {}, { content: array() }),
    refused("path-not-allowed", { path: "x" }),
  ],
  [
    "V2-74",
    "far below an array",
    () => made("a/b/x", {}, { content: { "a/.zarray": ZARRAY } }),
    refused("path-not-allowed", { path: "a/b/x" }),
  ],
  [
    "V2-74",
    "over a node",
    () => made("x", {}, { content: { "x/.zgroup": ZGROUP } }),
    refused("target-exists", { path: "x" }),
  ],
  [
    "V2-75",
    "members have documents",
    () =>
      membersIn({
        ...EMPTY,
        "foo/.zgroup": ZGROUP,
        "foo/bar/.zgroup": ZGROUP,
        "foo/baz/.zarray": ZARRAY,
        "bare/file": "x",
      }),
    ["group foo", "group foo/bar", "array foo/baz"],
  ],
  ["V2-75", "an array wins", async () => (await nodeIn({ ...array(), ...EMPTY })).kind, "array"],
  ["V2-76", "no group above is needed", () => opens({ "a/b/.zarray": ZARRAY }, "a/b"), "array"],
  [
    "V2-76",
    "groups without documents are walked",
    () => membersIn({ ...EMPTY, "a/b/.zarray": ZARRAY }),
    ["group a", "array a/b"],
  ],
  [
    "V2-78",
    "consolidated metadata alone",
    () => opens({ ".zmetadata": { zarr_consolidated_format: 1, metadata: { "a/.zarray": ZARRAY } } }, "a"),
    "array",
  ],
  [
    "V2-100",
    "names of dimensions",
    () => dimensionNames({ _ARRAY_DIMENSIONS: ["y", "x"], a: 1 }),
    [["y", "x"], { a: 1 }, 0],
  ],
  ...[["x"], "x", [1, 2]].map(
    (names): Row => [
      "V2-100",
      `${JSON.stringify(names)} is none`,
      () => dimensionNames({ _ARRAY_DIMENSIONS: names }),
      [undefined, { _ARRAY_DIMENSIONS: names }, 1],
    ],
  ),
  ...["V2-101", "V2-103", "V2-104"].map(
    (id): Row => [id, "attributes are handed on as they are", () => attributesIn(unchanged), unchanged],
  ),
  [
    "V2-102",
    "NCZarr's documents are ignored",
    () => membersIn({ ...EMPTY, ".nczgroup": "{}", "a/.zarray": ZARRAY, "a/.nczarray": "{}" }),
    ["array a"],
  ],
  [
    "V2-102",
    "and copied",
    () => copiedKeys({ ...EMPTY, ".nczgroup": "{}", "a/.zarray": ZARRAY, "a/.nczarray": "{}" }),
    [".nczgroup", ".zgroup", "a/.nczarray", "a/.zarray"],
  ],
];
