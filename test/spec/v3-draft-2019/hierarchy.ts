import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copy, create, deleteNode, open, setAttributes, walk } from "../../../src/index.ts";
import { formatNamed } from "../../../src/meta/formats.ts";
import { understandExtension } from "../../../src/meta/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { openStore } from "../../../src/stores/url.ts";
import { UnlistedStore } from "../../hierarchy/stores.ts";
import { given } from "../../support/given.ts";
import { type Row, refused } from "../rows.ts";
import { type Content, nodeIn, opens, sortedKeys, storeOf, textAt } from "../stores.ts";
import { ARRAY, array, GROUP, hierarchy, made } from "./kit.ts";

const FOO = hierarchy({ "meta/root/foo/bar.group": GROUP, "meta/root/foo/baz.array": ARRAY });
const withArray = (path: string) => ({ content: hierarchy({ [`meta/root/${path}.array`]: ARRAY }) });

async function membersIn(content: Content): Promise<string[]> {
  const node = await nodeIn(content);
  const members: string[] = [];
  if (node.kind === "group") for await (const { kind, path } of walk(node)) members.push(`${kind} ${path}`);
  return members;
}

/** The documents of a folder after an array of a name is created in it beside another. */
async function inDirectory(name: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "zarrflow-spec-"));
  const store = new DirectoryStore(folder);
  const members = { shape: [2], chunks: [1], dataType: "uint8", zarrFormat: "v3-draft-2019" } as const;
  try {
    await (await create({ store, path: "a" }, members)).close();
    const failed = await create({ store, path: name }, members).then(
      (writer) => writer.close(),
      (error) => error,
    );
    const left = await readdir(join(folder, "meta/root"));
    if (failed && left.length === 1) throw failed;
    return left.filter((entry) => entry !== "a.array");
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function understood(): Promise<string> {
  const extension = "http://example.org/understood";
  understandExtension(extension);
  const extensions = [{ extension, must_understand: true }];
  return opens(hierarchy({ "meta/root.group": GROUP }, { extensions }));
}

async function groupAt(path: string, content: Content): Promise<string[]> {
  const store = await storeOf(content);
  await given({ at: { store, path }, zarrFormat: "v3-draft-2019" });
  return sortedKeys(store);
}

async function keysWithout(path: string): Promise<string[]> {
  const store = await storeOf({
    ...FOO,
    "data/foo/baz/0.0": "x",
    "data/foo/baz/1.1": "x",
    "data/other/0": "x",
  });
  await deleteNode(await open({ store, path }));
  return sortedKeys(store);
}

async function copiedKeys(path: string): Promise<string[]> {
  const source = await storeOf({ ...FOO, "data/foo/baz/0.0": "x" });
  await copy(await open({ store: source, path }), "memory:spec-draft-copy", { ifExists: "replace" });
  return sortedKeys((await openStore({ kind: "memory", name: "spec-draft-copy" })) as MemoryStore);
}

async function unlisted(path: string): Promise<unknown> {
  const node = await open({ store: new UnlistedStore(await storeOf(FOO)), path });
  if (node.kind === "group") for await (const _ of walk(node));
  return node.path;
}

/** The draft knows which characters a key may have, every store which form. */
function read(key: string): Promise<unknown> {
  formatNamed("v3-draft-2019").layout("").hierarchy.assertKey(key);
  return new MemoryStore().get(key);
}

async function listed(prefix: string): Promise<unknown[]> {
  const entries: unknown[] = [];
  const store = await storeOf({ "a/b": "", "a/c": "", "a/d/e": "", "a/f/g": "" });
  for await (const entry of store.listDirectory(prefix))
    entries.push("prefix" in entry ? entry.prefix : entry.key);
  return entries;
}

async function listedBelow(prefix: string): Promise<string[]> {
  const keys: string[] = [];
  const store = await storeOf({ "a/b": "", "a/c/d": "", "e/f/g": "" });
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

const names: Row[] = [
  ...["foo/", "foo//bar", "//foo", "/foo/"].map(
    (path): Row => ["D19-3", path, () => nodeIn(FOO, path), refused("path-not-allowed", { path })],
  ),
  ["D19-3", "foo/..", () => nodeIn(FOO, "foo/.."), refused("path-not-allowed", { path: "foo/.." })],
  [
    "D19-3",
    "a slash in front, or none",
    async () => [await opens(FOO, "/foo/baz"), await opens(FOO, "foo/baz")],
    ["array", "array"],
  ],
  ...["a b", "é", "...", "x".repeat(256), "a%"].flatMap((name): Row[] => {
    const what = name.slice(0, 9);
    const expected = refused("invalid-node-name", { path: name });
    return [
      ["D19-10", `creating ${what}`, () => made(name), expected],
      ["D19-10", `opening ${what}`, () => nodeIn(FOO, name), expected],
    ];
  }),
  [
    "D19-10",
    "255 characters",
    async () => (await made("x".repeat(255))).size(`meta/root/${"x".repeat(255)}.array`).then(Boolean),
    true,
  ],
  [
    "D19-11",
    "beside an array",
    () => made("FOO", {}, withArray("foo")),
    refused("invalid-node-name", { path: "FOO" }),
  ],
  [
    "D19-11",
    "beside an implicit group",
    () => made("FOO", {}, withArray("foo/x")),
    refused("invalid-node-name", { path: "FOO" }),
  ],
  [
    "D19-11",
    "on the way",
    () => made("FOO/y", {}, withArray("foo/x")),
    refused("invalid-node-name", { path: "FOO/y" }),
  ],
  [
    "D19-11",
    "of a group",
    () => groupAt("Foo", hierarchy({ "meta/root/foo.group": GROUP })),
    refused("invalid-node-name", { path: "Foo" }),
  ],
  [
    "D19-11",
    "is read",
    () => membersIn(hierarchy({ "meta/root/foo.group": GROUP, "meta/root/FOO.group": GROUP })),
    ["group FOO", "group foo"],
  ],
  [
    "D19-12",
    "foreign names are ignored",
    () =>
      membersIn(
        hierarchy({ "meta/root/a b.array": ARRAY, "meta/root/é/x.array": ARRAY, "meta/root/c.array": ARRAY }),
      ),
    ["array c"],
  ],
  [
    "D19-13",
    "names that end in suffixes",
    () =>
      membersIn(
        hierarchy({
          "meta/root/dots.array/x.array": ARRAY,
          "meta/root/dots.array.array.array": ARRAY,
          "meta/root/g.group.group": GROUP,
        }),
      ),
    ["group dots.array", "array dots.array/x", "array dots.array.array", "group g.group"],
  ],
];

const creation: Row[] = [
  [
    "D19-15",
    "below an array",
    () => made("a/b", {}, withArray("a")),
    refused("path-not-allowed", { path: "a/b" }),
  ],
  [
    "D19-15",
    "below a root array",
    () => made("b", {}, { content: array() }),
    refused("path-not-allowed", { path: "b" }),
  ],
  [
    "D19-15",
    "an array over children",
    () => made("a", {}, withArray("a/b")),
    refused("target-exists", { path: "a" }),
  ],
  [
    "D19-15",
    "a root array over children",
    () => made("", {}, withArray("a/b")),
    refused("target-exists", { path: "" }),
  ],
  ["D19-16", "over an array", () => made("a", {}, withArray("a")), refused("target-exists", { path: "a" })],
  [
    "D19-16",
    "over a group",
    () => made("a", {}, { content: hierarchy({ "meta/root/a.group": GROUP }) }),
    refused("target-exists", { path: "a" }),
  ],
  [
    "D19-16",
    "a group over an implicit one",
    () => groupAt("foo", FOO),
    ["meta/root/foo.group", "meta/root/foo/bar.group", "meta/root/foo/baz.array", "zarr.json"],
  ],
  [
    "D19-71",
    "no groups above",
    async () => sortedKeys(await made("a/b/c")),
    ["meta/root/a/b/c.array", "zarr.json"],
  ],
  [
    "D19-72",
    "attributes make a group explicit",
    async () => {
      const store = await storeOf(FOO);
      await setAttributes(await open({ store, path: "foo" }), { a: 1 });
      return JSON.parse(await textAt(store, "meta/root/foo.group"));
    },
    { extensions: [], attributes: { a: 1 } },
  ],
  [
    "D19-76",
    "an array goes with its chunks",
    () => keysWithout("foo/baz"),
    ["data/other/0", "meta/root/foo/bar.group", "zarr.json"],
  ],
  ["D19-76", "a group with all below", () => keysWithout("foo"), ["data/other/0", "zarr.json"]],
  ["D19-76", "the root but for the bootstrap document", () => keysWithout(""), ["zarr.json"]],
  [
    "D19-77",
    "both trees are copied",
    () => copiedKeys("foo"),
    ["data/baz/0.0", "meta/root/bar.group", "meta/root/baz.array", "zarr.json"],
  ],
];

const reading: Row[] = [
  ["D19-73", "an array", () => opens(FOO, "foo/baz"), "array"],
  ["D19-73", "an implicit group", () => opens(FOO, "foo"), "group"],
  ["D19-73", "the root of nothing", () => opens(hierarchy()), "group"],
  [
    "D19-73",
    "nothing",
    () => nodeIn(FOO, "x"),
    refused("not-found", { path: "x", found: "none of meta/root/x.array, meta/root/x.group, meta/root/x/" }),
  ],
  [
    "D19-73",
    "an implicit group where nothing lists",
    () => unlisted("foo"),
    refused("not-found", { path: "foo" }),
  ],
  [
    "D19-74",
    "an array wins, other keys are none",
    () =>
      membersIn(
        hierarchy({ "meta/root/a.array": ARRAY, "meta/root/a.group": GROUP, "meta/root/other": "x" }),
      ),
    ["array a"],
  ],
  [
    "D19-75",
    "all nodes, with the implied ones",
    () => membersIn(FOO),
    ["group foo", "group foo/bar", "array foo/baz"],
  ],
  [
    "D19-78",
    "members where nothing lists",
    () => unlisted(""),
    refused("unsupported-operation", { path: "" }),
  ],
  ["D19-78", "known paths open", () => unlisted("foo/baz"), "foo/baz"],
];

const stores: Row[] = [
  ...["", "/a", "a/", "a//b", "a/./b", "a/../b", "a b", "é", "a%"].map(
    (key): Row => [
      "D19-80",
      `the key ${JSON.stringify(key)}`,
      async () => read(key),
      refused("path-not-allowed", { key }),
    ],
  ),
  [
    "D19-14",
    "a name that is too long with its suffix",
    () => inDirectory("x".repeat(255)),
    refused("path-not-allowed", { key: `meta/root/${"x".repeat(255)}.array` }),
  ],
  ["D19-14", "one that is not", () => inDirectory("x".repeat(249)), [`${"x".repeat(249)}.array`]],
  ["D19-24", "an extension that the application understands", understood, "group"],
  ["D19-81", "a store that only gets", () => unlisted("foo/baz"), "foo/baz"],
  ["D19-82", "keys below a prefix", () => listedBelow("a/"), ["a/b", "a/c/d"]],
  ["D19-82", "one level of them", () => listed("a/"), ["a/b", "a/c", "a/d/", "a/f/"]],
  ["D19-82", "an unknown prefix", () => listed("x/"), []],
  ["D19-83", "a missing key", () => new MemoryStore().get("a"), undefined],
  [
    "D19-83",
    "its deletion",
    async () => {
      await new MemoryStore().delete("a");
      return "done";
    },
    "done",
  ],
  ["D19-84", "a prefix without its slash", () => listed("a"), refused("path-not-allowed", { key: "a" })],
  ["D19-84", "nothing twice", () => listed(""), ["a/"]],
];

export const hierarchyRows: readonly Row[] = [...names, ...creation, ...reading, ...stores];
