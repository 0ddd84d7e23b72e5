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
import { type Row, refused, row } from "../rows.ts";
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
  ...["foo/", "foo//bar", "//foo", "/foo/"].map((path) =>
    row("D19-3", path, refused("path-not-allowed", { path }), () => nodeIn(FOO, path)),
  ),
  row("D19-3", "foo/..", refused("path-not-allowed", { path: "foo/.." }), () => nodeIn(FOO, "foo/..")),
  row("D19-3", "a slash in front, or none", ["array", "array"], async () => [
    await opens(FOO, "/foo/baz"),
    await opens(FOO, "foo/baz"),
  ]),
  ...["a b", "é", "...", "x".repeat(256), "a%"].flatMap((name): Row[] => {
    const what = name.slice(0, 9);
    const expected = refused("invalid-node-name", { path: name });
    return [
      row("D19-10", `creating ${what}`, expected, () => made(name)),
      row("D19-10", `opening ${what}`, expected, () => nodeIn(FOO, name)),
    ];
  }),
  row("D19-10", "255 characters", true, async () =>
    (await made("x".repeat(255))).size(`meta/root/${"x".repeat(255)}.array`).then(Boolean),
  ),
  row("D19-11", "beside an array", refused("invalid-node-name", { path: "FOO" }), () =>
    made("FOO", {}, withArray("foo")),
  ),
  row("D19-11", "beside an implicit group", refused("invalid-node-name", { path: "FOO" }), () =>
    made("FOO", {}, withArray("foo/x")),
  ),
  row("D19-11", "on the way", refused("invalid-node-name", { path: "FOO/y" }), () =>
    made("FOO/y", {}, withArray("foo/x")),
  ),
  row("D19-11", "of a group", refused("invalid-node-name", { path: "Foo" }), () =>
    groupAt("Foo", hierarchy({ "meta/root/foo.group": GROUP })),
  ),
  row("D19-11", "is read", ["group FOO", "group foo"], () =>
    membersIn(hierarchy({ "meta/root/foo.group": GROUP, "meta/root/FOO.group": GROUP })),
  ),
  row("D19-12", "foreign names are ignored", ["array c"], () =>
    membersIn(
      hierarchy({ "meta/root/a b.array": ARRAY, "meta/root/é/x.array": ARRAY, "meta/root/c.array": ARRAY }),
    ),
  ),
  row("D19-13", "names that end in suffixes", ["group a.array", "array a.array/x", "group g.group"], () =>
    membersIn(hierarchy({ "meta/root/a.array/x.array": ARRAY, "meta/root/g.group.group": GROUP })),
  ),
  row("D19-13", "twice in them", ["array a.array.array"], () =>
    membersIn(hierarchy({ "meta/root/a.array.array.array": ARRAY })),
  ),
];

const creation: Row[] = [
  row("D19-15", "below an array", refused("path-not-allowed", { path: "a/b" }), () =>
    made("a/b", {}, withArray("a")),
  ),
  row("D19-15", "below a root array", refused("path-not-allowed", { path: "b" }), () =>
    made("b", {}, { content: array() }),
  ),
  row("D19-15", "an array over children", refused("target-exists", { path: "a" }), () =>
    made("a", {}, withArray("a/b")),
  ),
  row("D19-15", "a root array over children", refused("target-exists", { path: "" }), () =>
    made("", {}, withArray("a/b")),
  ),
  row("D19-16", "over an array", refused("target-exists", { path: "a" }), () =>
    made("a", {}, withArray("a")),
  ),
  row("D19-16", "over a group", refused("target-exists", { path: "a" }), () =>
    made("a", {}, { content: hierarchy({ "meta/root/a.group": GROUP }) }),
  ),
  row("D19-16", "a group over an implicit one", ["meta/root/foo.group", ...Object.keys(FOO)].sort(), () =>
    groupAt("foo", FOO),
  ),
  row("D19-71", "no groups above", ["meta/root/a/b/c.array", "zarr.json"], () => made("a/b/c")),
  row("D19-72", "attributes make a group explicit", { extensions: [], attributes: { a: 1 } }, async () => {
    const store = await storeOf(FOO);
    await setAttributes(await open({ store, path: "foo" }), { a: 1 });
    return JSON.parse(await textAt(store, "meta/root/foo.group"));
  }),
  row("D19-76", "an array and its chunks", ["data/other/0", "meta/root/foo/bar.group", "zarr.json"], () =>
    keysWithout("foo/baz"),
  ),
  row("D19-76", "a group with all below", ["data/other/0", "zarr.json"], () => keysWithout("foo")),
  row("D19-76", "the root but for the bootstrap document", ["zarr.json"], () => keysWithout("")),
  row(
    "D19-77",
    "both trees",
    ["data/baz/0.0", "meta/root/bar.group", "meta/root/baz.array", "zarr.json"],
    () => copiedKeys("foo"),
  ),
];

const NONE_OF_X = "none of meta/root/x.array, meta/root/x.group, meta/root/x/";

const reading: Row[] = [
  row("D19-73", "an array", "array", () => opens(FOO, "foo/baz")),
  row("D19-73", "an implicit group", "group", () => opens(FOO, "foo")),
  row("D19-73", "the root of nothing", "group", () => opens(hierarchy())),
  row("D19-73", "nothing", refused("not-found", { path: "x", found: NONE_OF_X }), () => nodeIn(FOO, "x")),
  row("D19-73", "an implicit group where nothing lists", refused("not-found", { path: "foo" }), () =>
    unlisted("foo"),
  ),
  row("D19-74", "an array wins, other keys are none", ["array a"], () =>
    membersIn(hierarchy({ "meta/root/a.array": ARRAY, "meta/root/a.group": GROUP, "meta/root/other": "x" })),
  ),
  row("D19-75", "all nodes, with the implied ones", ["group foo", "group foo/bar", "array foo/baz"], () =>
    membersIn(FOO),
  ),
  row("D19-78", "members where nothing lists", refused("unsupported-operation", { path: "" }), () =>
    unlisted(""),
  ),
  row("D19-78", "known paths open", "foo/baz", () => unlisted("foo/baz")),
];

const LONG = "x".repeat(255);

const stores: Row[] = [
  ...["", "/a", "a/", "a//b", "a/./b", "a/../b", "a b", "é", "a%"].map((key) =>
    row("D19-80", `the key ${JSON.stringify(key)}`, refused("path-not-allowed", { key }), async () =>
      read(key),
    ),
  ),
  row(
    "D19-14",
    "a name too long for files",
    refused("path-not-allowed", { key: `meta/root/${LONG}.array` }),
    () => inDirectory(LONG),
  ),
  row("D19-14", "one that is not", [`${"x".repeat(249)}.array`], () => inDirectory("x".repeat(249))),
  row("D19-24", "an extension that the application understands", "group", understood),
  row("D19-81", "a store that only gets", "foo/baz", () => unlisted("foo/baz")),
  row("D19-82", "keys below a prefix", ["a/b", "a/c/d"], () => listedBelow("a/")),
  row("D19-82", "one level of them", ["a/b", "a/c", "a/d/", "a/f/"], () => listed("a/")),
  row("D19-82", "an unknown prefix", [], () => listed("x/")),
  row("D19-83", "a missing key", undefined, () => new MemoryStore().get("a")),
  row("D19-83", "its deletion", "done", async () => {
    await new MemoryStore().delete("a");
    return "done";
  }),
  row("D19-84", "a prefix without its slash", refused("path-not-allowed", { key: "a" }), () => listed("a")),
  row("D19-84", "nothing twice", ["a/"], () => listed("")),
];

export const hierarchyRows: readonly Row[] = [...names, ...creation, ...reading, ...stores];
