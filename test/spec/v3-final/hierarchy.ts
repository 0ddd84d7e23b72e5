import { deleteNode, open, openArray, resizeArray, slice, walk } from "../../../src/index.ts";
import { v3 } from "../../../src/meta/v3/v3.ts";
import { HttpStore } from "../../../src/stores/http.ts";
import { type StoreRequest, withRequestLog } from "../../../src/stores/with/request-log.ts";
import { UnlistedStore } from "../../hierarchy/stores.ts";
import { type Manners, serveValues } from "../../stores/value-server.ts";
import { type Row, refused, row } from "../rows.ts";
import { type Content, hex, nodeIn, opens, sortedKeys, storeOf } from "../stores.ts";
import { ARRAY, array, bytes, chunkShape, GROUP, group, made } from "./kit.ts";

async function membersIn(content: Content): Promise<string[]> {
  const node = await nodeIn(content);
  const members: string[] = [];
  if (node.kind === "group") for await (const { path } of walk(node)) members.push(path);
  return members;
}

/** Three bytes from the third of a value of a web server. */
async function partByHttp(key: string, manners: Manners = {}): Promise<unknown> {
  const values = new Map([
    ["a", new TextEncoder().encode("0123456789")],
    ["b", new Uint8Array(0)],
  ]);
  const server = await serveValues(values, manners);
  try {
    const found = await new HttpStore(server.url).get(key, { range: { offset: 2, length: 3 } });
    return found && new TextDecoder().decode(found);
  } finally {
    await server.close();
  }
}

async function unlistedMembers(): Promise<void> {
  const node = await open(new UnlistedStore(await storeOf({ ...group(), "a/zarr.json": ARRAY })));
  if (node.kind === "group") for await (const _ of walk(node));
}

async function keysWithout(path: string): Promise<string[]> {
  const store = await storeOf({
    ...group(),
    "a/zarr.json": ARRAY,
    "a/c/0/0": "x",
    "ab/zarr.json": GROUP,
    note: "x",
  });
  await deleteNode(await open({ store, path }));
  return sortedKeys(store);
}

/** What is read of a line of bytes, in chunks of two, when it has another length. */
async function resized(length: number): Promise<unknown[]> {
  const store = await storeOf(
    array(
      { shape: [3], ...chunkShape(2), data_type: "uint8", codecs: ["bytes"] },
      { "c/0": hex("0102"), "c/1": hex("0309") },
    ),
  );
  await resizeArray(await openArray(store), [length]);
  return Array.from((await slice(await openArray(store)).read()).data as Uint8Array);
}

/** Requests for values of shards when one of two inner chunks is read. */
async function shardRequests(): Promise<unknown[]> {
  const requests: StoreRequest[] = [];
  const members = { shape: [200], chunks: [100], shards: [200] };
  const store = await made("", members, { items: new Uint8Array(200).fill(1) });
  const array = await openArray(withRequestLog(store, (request) => requests.push(request)));
  await slice(array, [[100, 101]]).read();
  return requests
    .filter(({ operation, key }) => operation === "get" && key === "c/0")
    .map(({ bytes }) => bytes);
}

async function part(
  range: { offset: number; length: number } | { suffix: number },
  key = "a",
): Promise<unknown> {
  return (await storeOf({ a: "0123456789" })).get(key, { range } as never);
}

const text = (value: string) => new TextEncoder().encode(value);

export const hierarchyRows: readonly Row[] = [
  row("V3-1", "keys", [["zarr.json"], ["a/b/zarr.json"]], () =>
    ["", "a/b"].map((path) => v3.layout(path).documentKeys),
  ),
  row("V3-2", "a root array alone", ["zarr.json"], () => made("")),
  row("V3-2", "groups above are made", ["a/b/c/zarr.json", "a/b/zarr.json", "a/zarr.json", "zarr.json"], () =>
    made("a/b/c"),
  ),
  row("V3-2", "and not needed", "array", () => opens({ "a/b/zarr.json": ARRAY }, "a/b")),
  row("V3-2", "below an array", refused("path-not-allowed", { path: "x" }), () =>
    made("x", {}, { content: array() }),
  ),
  row("V3-2", "over a node", refused("target-exists", { path: "x" }), () =>
    made("x", {}, { content: { "x/zarr.json": GROUP } }),
  ),
  ...["__a", "...", "zarr.json"].map((name) =>
    row("V3-3", name, refused("invalid-node-name", { path: `g/${name}` }), () => made(`g/${name}`)),
  ),
  ...["a b", "é", "x".repeat(300)].map((name) =>
    row("V3-3", name.slice(0, 9), true, async () =>
      (await made(name)).get(`${name}/zarr.json`).then(Boolean),
    ),
  ),
  row("V3-4", "members have a `zarr.json`", ["a"], () =>
    membersIn({ ...group(), "a/zarr.json": ARRAY, "__b/zarr.json": ARRAY, "c/.zarray": "{}", "d/x": "1" }),
  ),
  row("V3-5", "all nodes", ["g", "g/a"], () =>
    membersIn({ ...group(), "g/zarr.json": GROUP, "g/a/zarr.json": ARRAY }),
  ),
  row("V3-5", "members where nothing lists", refused("unsupported-operation", { path: "" }), unlistedMembers),
  row("V3-5", "a node goes with all below", ["ab/zarr.json", "note", "zarr.json"], () => keysWithout("a")),
  row("V3-5", "the root with every key", [], () => keysWithout("")),
  row("V3-32", "a missing chunk", [7, 7], bytes(2, { fill_value: 7 })),
  row("V3-32", "-0.0 is not 0.0", ["c/1", "zarr.json"], () =>
    made("", { dataType: "float32" }, { items: hex("00000000 00000080") }),
  ),
  row("V3-33", "shrunk", [1], () => resized(1)),
  row("V3-33", "grown: cells hold what was written", [1, 2, 3, 9, 0], () => resized(5)),
  row("V3-53", "an index, and one inner chunk", [36, 100], shardRequests),
  row("V3-61", "200 and the whole value for a part", "234", () => partByHttp("a", { ignoresRanges: true })),
  row("V3-61", "416 for an empty value", "", () => partByHttp("b")),
  row("V3-60", "a part", text("234"), () => part({ offset: 2, length: 3 })),
  row("V3-60", "a suffix", text("89"), () => part({ suffix: 2 })),
  row("V3-60", "a part beyond the end", text("89"), () => part({ offset: 8, length: 5 })),
  row("V3-60", "a part of nothing", undefined, () => part({ suffix: 2 }, "b")),
];
