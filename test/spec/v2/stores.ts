import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { children, create, open, openArray, slice } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { HttpStore } from "../../../src/stores/http.ts";
import type { Store } from "../../../src/stores/store.ts";
import { ZipStore } from "../../../src/stores/zip.ts";
import { BytesReader } from "../../stores/bytes-reader.ts";
import { type Manners, serveValues } from "../../stores/value-server.ts";
import { type ArchiveDraft, buildZip, type EntryDraft } from "../../stores/zip/build-zip.ts";
import { type Row, refused } from "../rows.ts";
import { hex, jsonAt, storeOf } from "../stores.ts";
import { array, ZARRAY } from "./kit.ts";

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
  ["V2-80", "files of a folder, and nothing beside them", keysInFolder, ["a", "a/0.0"]],
  ["V2-80", "a folder in a key's place", folderInPlaceOfKey, undefined],
  ["V2-81", "the separator that the opener gives", () => read(undefined, "/"), [5, 6]],
  ["V2-81", "a slash that is stated", () => read("/", "."), [5, 6]],
  ["V2-81", "a dot that is stated", () => read(".", "/"), [7, 0]],
  [
    "V2-81",
    "is stated where it is created",
    async () => {
      const store = await storeOf({});
      const made = { zarrFormat: "v2", shape: [2], chunks: [1], dataType: "uint8", separator: "/" } as const;
      await (await create(store, made)).close();
      return (await jsonAt(store, ".zarray")).dimension_separator;
    },
    "/",
  ],
  ["V2-82", "a stored entry, its name in UTF-8", () => zipped({}), "x"],
  ["V2-82", "a deflated one", () => zipped({ method: 8 }), "x"],
  ["V2-82", "zip64", () => zipped({}, { zip64: true }), "x"],
  ["V2-82", "a data descriptor", () => zipped({ descriptor: true }), "x"],
  [
    "V2-82",
    "the later of two entries of a name",
    async () => textIn(await zipOf(["x", "y"].map((text) => ({ name: "a", value: value(text) }))), "a"),
    "y",
  ],
  [
    "V2-82",
    "no directory at the end",
    () => ZipStore.open(new BytesReader(new Uint8Array(100)), "zip"),
    refused("corrupt-store"),
  ],
  ["V2-82", "a folder zipped with its own name", wrapped, refused("not-found")],
  ["V2-83", "keys percent-encoded", () => byHttp("größe/0.0"), ["/data/gr%C3%B6%C3%9Fe/0.0", "234"]],
  [
    "V2-83",
    "a query of the root on every request",
    () => byHttp("größe/0.0", { query: "?token=1" }),
    ["/data/gr%C3%B6%C3%9Fe/0.0?token=1", "234"],
  ],
  [
    "V2-83",
    "no length ahead and no ranges",
    async () => (await byHttp("größe/0.0", { ignoresRanges: true, hidesLength: true }))[1],
    "234",
  ],
  ["V2-83", "no listing", listedByHttp, refused("unsupported-operation")],
];
