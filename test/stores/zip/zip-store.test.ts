// @module-tag slow
import * as fs from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import type { ZarrArray } from "../../../src/hierarchy/node.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import { openZipFile, ZipStore, type ZipStoreOptions, ZipWriter } from "../../../src/stores/zip.ts";
import { all, drain, keysOf } from "../../support/consume.ts";
import { withBucket } from "../../support/s3-environment.ts";
import { BytesReader } from "../bytes-reader.ts";
import { MemorySink } from "../memory-sink.ts";
import { assertBytes, keepsPromises } from "../support.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { serveValues } from "../value-server.ts";
import { type ArchiveDraft, buildZip, type EntryDraft } from "./build-zip.ts";

const folder = temporaryFolder();
const DATA = new Uint8Array(1000).map((_, i) => i * 7);
const BIG = new Uint8Array(200_000).map((_, i) => (i * i) >> 5);

function openBytes(bytes: Uint8Array, options: ZipStoreOptions = {}): Promise<ZipStore> {
  return ZipStore.open(new BytesReader(bytes), "zip test.zip", options);
}

function opened(entries: readonly EntryDraft[], archive: ArchiveDraft = {}): Promise<ZipStore> {
  return openBytes(buildZip(entries, archive));
}

function openFile(bytes: Uint8Array): Promise<ZipStore> {
  const path = folder.next("x.zip");
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, bytes);
  return openZipFile(path);
}

describe.each([
  ["stored entries", 0, openBytes],
  ["deflated entries", 8, openBytes],
  ["a file", 0, openFile],
])("ZipStore of %s", (_, method, open) => {
  const filled = (values: ReadonlyMap<string, Uint8Array>) =>
    open(buildZip([...values].map(([name, value]) => ({ name, value, method }))));
  keepsPromises({ lists: true, filled });
});

it("a file that is not there, or a folder, is not found", async () => {
  for (const path of [folder.next("none.zip"), folder.path])
    await expect(openZipFile(path)).rejects.toMatchObject({ code: "not-found" });
});

describe("names of entries", () => {
  it("that come twice give the later entry, and a finding, of which thousands are counted", async () => {
    const store = await opened(["a", "b", "a"].map((name, i) => ({ name, value: Uint8Array.of(i) })));
    expect(await store.get("a")).toEqual(Uint8Array.of(2));
    expect(store.findings).toEqual([
      { key: "a", message: expect.stringMatching(/later/), isDuplicate: true },
    ]);
    const { findings } = await opened(Array.from({ length: 3001 }, () => ({ name: "a" })));
    expect(findings).toHaveLength(1001);
    expect(findings.at(-1)?.message).toMatch(/^2000 /);
  });

  it("are keys of files alone: folders are left out, odd names with a finding", async () => {
    const names = ["a/", "a/0", "", "./b", "c//d", "e\0"];
    const store = await opened(names.map((name) => ({ name })));
    expect(await keysOf(store)).toEqual(["a/0"]);
    expect(store.findings.map(({ key }) => key)).toEqual(["", "./b", "c//d", "e\0"]);
  });

  it.each(["../evil", "a/../../evil", "/etc/evil", "C:\\evil", "..\\evil", "../"])(
    "that leave the archive are refused: %j",
    async (name) => {
      const fault = { code: "path-not-allowed", details: { store: "zip test.zip" } };
      await expect(opened([{ name: "a" }, { name }])).rejects.toMatchObject(fault);
    },
  );

  it("of a folder of its own are read from that root", async () => {
    const names = ["inner.zarr/.zgroup", "inner.zarr/a/0", "inner.zarr-not/.zgroup"];
    const bytes = buildZip(names.map((name) => ({ name, value: Buffer.from(name) })));
    const store = await openBytes(bytes, { root: "inner.zarr" });
    expect(await keysOf(store)).toEqual([".zgroup", "a/0"]);
    assertBytes(await store.get("a/0"), Buffer.from("inner.zarr/a/0"));
    const top = await all((await openBytes(bytes)).listDirectory(""));
    expect(top).toEqual([{ prefix: "inner.zarr-not/" }, { prefix: "inner.zarr/" }]);
    await expect(openBytes(bytes, { root: "../x" })).rejects.toMatchObject({ code: "path-not-allowed" });
  });

  it("have 1,000 levels, but not 30,000", async () => {
    const [key, name] = [`${"a/".repeat(1000)}b`, `${"a/".repeat(30_000)}.zgroup`];
    expect(await (await opened([{ name: key, value: DATA }])).get(key)).toEqual(DATA);
    await expect(opened([{ name }])).rejects.toMatchObject({ code: "resource-limit" });
  });
});

describe("a directory", () => {
  const named = (count: number): EntryDraft[] =>
    Array.from({ length: count }, (_, i) => ({ name: `t/${i}`, value: Uint8Array.of(i, i >> 8, i >> 16) }));

  it("whose count of 65,536 is stored modulo 65,536 is read whole, with a finding", async () => {
    const store = await opened(named(65_536), { claims: { entries: 0 } });
    expect(await keysOf(store)).toHaveLength(65_536);
    expect(await store.get("t/65535")).toEqual(Uint8Array.of(255, 255, 0));
    const message = expect.stringContaining("states 0 entries, but has 65536");
    expect(store.findings).toEqual([{ key: "", message }]);
  });

  it.each<[string, ArchiveDraft]>([
    ["fewer entries stated than there are", { claims: { entries: 2 } }],
    ["more entries stated than there are", { claims: { entries: 4 } }],
    ["no entries stated", { claims: { entries: 0 } }],
    ["fewer entries stated, by zip64", { zip64: true, claims: { entries: 2 } }],
    ["a count of zip64 with lost digits", { zip64: true, claims: { entries: 3 + 65_536 } }],
    ["fewer entries stated, and bytes that fit them", { claims: { entries: 2, size: 2 * 49 } }],
    ["a place outside", { claims: { offset: 1_000_000 } }],
    ["bytes before it that zip64 does not count", { zip64: true, before: new Uint8Array(9) }],
  ])("with %s is refused, and the file closed", async (_, archive) => {
    const reader = new BytesReader(buildZip(named(3), archive));
    const fault = { code: "corrupt-store", details: { store: "zip test.zip" } };
    await expect(ZipStore.open(reader, "zip test.zip")).rejects.toMatchObject(fault);
    expect(reader.isClosed).toBe(true);
  });

  it("elsewhere than stated gives no value", async () => {
    const store = await opened([{ name: "a", value: DATA }], { claims: { offset: 3 } });
    await expect(store.get("a")).rejects.toMatchObject({ code: "corrupt-store" });
  });

  it("of an archive in several files is not supported", async () => {
    const opening = opened([{ name: "a" }], { claims: { disk: 1 } });
    await expect(opening).rejects.toMatchObject({ code: "unsupported-operation" });
  });
});

// A symbolic link is not missing, and not followed.
describe("symbolic links in an archive", () => {
  const LINK = { value: Buffer.from("../secret"), attributes: 0o120777 * 0x10000 };
  const fault = (key: string) => ({ code: "corrupt-store", details: { key, store: "zip test.zip" } });

  it("are errors to read, to size, and to list, findings, and reported where listings go on", async () => {
    const store = await opened([{ name: "t/0.0", ...LINK }, { name: "t/0.1" }]);
    await expect(store.get("t/0.0")).rejects.toMatchObject(fault("t/0.0"));
    await expect(store.size("t/0.0")).rejects.toMatchObject(fault("t/0.0"));
    expect(await store.get("t/0.2")).toBeUndefined();
    expect(await store.size("t/0.1")).toBe(0);
    expect(store.findings).toEqual([{ key: "t/0.0", message: expect.stringMatching(/symbolic link/) }]);
    for (const list of [store.list.bind(store), store.listDirectory.bind(store)]) {
      await expect(drain(list("t/"))).rejects.toMatchObject(fault("t/0.0"));
      const told: unknown[] = [];
      const onUnreadable = (name: string, error: Error) => told.push(name, error);
      expect(await all<unknown>(list("t/", { onUnreadable }))).toMatchObject([{ key: "t/0.1" }]);
      expect(told).toMatchObject(["t/0.0", fault("t/0.0")]);
    }
  });

  it("to folders are errors for every key below them, and on opening there", async () => {
    const bytes = buildZip([{ name: "g/t", ...LINK }, { name: "g/u/0" }]);
    const store = await openBytes(bytes);
    await expect(store.get("g/t/0.0")).rejects.toMatchObject(fault("g/t"));
    await expect(store.size("g/t/c/0/0")).rejects.toMatchObject(fault("g/t"));
    await expect(drain(store.listDirectory("g/"))).rejects.toMatchObject(fault("g/t"));
    expect(await store.get("g/t2/0.0")).toBeUndefined();
    await expect(openBytes(bytes, { root: "g/t" })).rejects.toMatchObject(fault("g/t"));
  });

  it("that a later entry replaces are none", async () => {
    const store = await opened([{ name: "a", ...LINK }, { name: "a" }]);
    expect(await store.size("a")).toBe(0);
  });
});

describe("broken archives", () => {
  const good = buildZip([
    { name: "a", value: DATA },
    { name: "b", value: DATA, method: 8 },
  ]);

  it("that are none, or are truncated or continued at whatever place, are refused", async () => {
    const broken: Uint8Array[] = [new Uint8Array(500).fill(7), new Uint8Array([...good, 1, 2, 3])];
    for (let length = 0; length < good.length; length++) broken.push(good.subarray(0, length));
    for (const bytes of broken)
      await expect(openBytes(bytes)).rejects.toMatchObject({ code: "corrupt-store" });
  });

  it("with a changed byte give no wrong value: it is read right, missing, or an error of ours", async () => {
    for (let at = 0; at < good.length; at++) {
      const bytes = new Uint8Array(good);
      bytes[at] = (bytes[at] ?? 0) ^ 0x55;
      try {
        const store = await openBytes(bytes);
        for (const key of ["a", "b"]) assertBytes((await store.get(key)) ?? DATA, DATA);
      } catch (error) {
        expect(error).toMatchObject({ name: "ZarrflowError" });
      }
    }
  });

  const deflated = { method: 8 };
  it.each<[string, Partial<EntryDraft>, string]>([
    ["another CRC", { claims: { crc32: 1 } }, "corrupt-store"],
    ["another CRC, deflated", { ...deflated, claims: { crc32: 1 } }, "corrupt-store"],
    ["a longer value than stated", { ...deflated, claims: { size: 999 } }, "corrupt-store"],
    ["a shorter value than stated", { ...deflated, claims: { size: 1001 } }, "corrupt-store"],
    ["a stated size beyond all reason", { ...deflated, claims: { size: 2 ** 31 } }, "corrupt-store"],
    ["two sizes, stored", { claims: { size: 999 } }, "corrupt-store"],
    ["data outside", { claims: { size: 9999, packedSize: 9999 } }, "corrupt-store"],
    ["a local header outside", { claims: { offset: 99_999 } }, "corrupt-store"],
    ["a local header elsewhere", { claims: { offset: 1 } }, "corrupt-store"],
    ["encryption", { flags: 0x0801 }, "unsupported-operation"],
    ["another method", { method: 12 }, "unsupported-operation"],
  ])("fail at an entry with %s alone", async (_, bad, code) => {
    const store = await opened(["good", "bad"].map((name, i) => ({ name, value: DATA, ...(i && bad) })));
    const fault = { code, details: { key: "bad", store: "zip test.zip" } };
    await expect(store.get("bad")).rejects.toMatchObject(fault);
    expect(await store.get("good")).toEqual(DATA);
  });

  it("are refused by allocate for the size of an entry, before a byte of it is inflated", async () => {
    const store = await opened([{ name: "bomb", value: new Uint8Array(50_000_000), method: 8 }]);
    const asked: number[] = [];
    const refusal = new Error("too large");
    const allocate = (length: number) => {
      asked.push(length);
      throw refusal;
    };
    await expect(store.get("bomb", { allocate })).rejects.toBe(refusal);
    expect(asked).toEqual([50_000_000]);
  });
});

describe("reads of the archive", () => {
  const small = Array.from({ length: 10_000 }, (_, i) => ({ name: `a/${i}`, value: DATA.subarray(0, 100) }));
  const large = Array.from({ length: 20 }, (_, i) => ({ name: `a/${i}`, value: BIG }));
  const readerOf = async (drafts: readonly EntryDraft[]) => {
    const reader = new BytesReader(buildZip(drafts));
    const store = await ZipStore.open(reader, "zip test.zip");
    const opening = reader.reads.splice(0).length;
    return { reader, store, opening, lengths: () => reader.reads.splice(0).map(({ length }) => length) };
  };

  it("are few on opening, and one for many small entries beside each other", async () => {
    const { store, opening, lengths } = await readerOf(small);
    expect(opening).toBeLessThanOrEqual(2);
    for (let i = 0; i < 200; i++) expect(await store.get(`a/${i}`)).toEqual(DATA.subarray(0, 100));
    expect(lengths()).toEqual([32 * 1024]);
  });

  it("are one an entry where entries are large, of its bytes alone", async () => {
    const { store, lengths } = await readerOf(large);
    for (let i = 0; i < 19; i++) assertBytes(await store.get(`a/${i}`), BIG);
    expect(lengths()).toEqual(Array.from({ length: 19 }, () => BIG.length));
  });

  it("are one an entry with extra fields of one length, once the first header shows it", async () => {
    const { store, lengths } = await readerOf(large.map((e) => ({ ...e, localExtra: new Uint8Array(28) })));
    for (let i = 0; i < 19; i++) assertBytes(await store.get(`a/${i}`), BIG);
    expect(lengths()).toHaveLength(20);
  });

  it("of few bytes come with the local header, which is checked", async () => {
    const bytes = buildZip(small.slice(0, 3));
    bytes.set(Buffer.from("XX"), Buffer.from(bytes).indexOf("PK\x03\x04", 10));
    const store = await openBytes(bytes);
    expect(await store.get("a/0")).toEqual(DATA.subarray(0, 100));
    await expect(store.get("a/1")).rejects.toMatchObject({ code: "corrupt-store", details: { key: "a/1" } });
  });

  it("that fail come through as they are, and stop on an aborted signal, with its reason", async () => {
    const [failure, reason] = [new TypeError("fetch failed"), { why: "enough" }];
    const controller = new AbortController();
    const opening = (second: () => void) => {
      const reader = new BytesReader(buildZip(small));
      const read = reader.read.bind(reader);
      reader.read = async (...args) => {
        if (reader.reads.length > 0) second();
        return read(...args);
      };
      return { reader, store: ZipStore.open(reader, "zip test.zip", { signal: controller.signal }) };
    };
    const fail = () => {
      throw failure;
    };
    const { reader, store } = opening(fail);
    await expect(store).rejects.toBe(failure);
    expect(reader.isClosed).toBe(true);
    const aborted = opening(() => controller.abort(reason));
    await expect(aborted.store).rejects.toMatchObject({ code: "aborted", cause: reason });
  });
});

describe("requests for an array in a zip of 20,000 entries", () => {
  const [ROWS, COLUMNS] = [100, 200];
  const text = (document: object) => new TextEncoder().encode(JSON.stringify(document));
  const plain = { dtype: "|u1", compressor: null, fill_value: 0, order: "C", filters: null };
  const documents = [
    { name: ".zgroup", value: text({ zarr_format: 2 }) },
    {
      name: "t2m/.zarray",
      value: text({ zarr_format: 2, shape: [ROWS, COLUMNS * 4], chunks: [1, 4], ...plain }),
    },
    { name: "t2m/.zattrs", value: text({ units: "K" }) },
  ];
  const chunk = (row: number, column: number) => Uint8Array.from([0, 1, 2, 3], (i) => row + column * 3 + i);
  const chunks = Array.from({ length: ROWS * COLUMNS }, (_, i) => {
    const [row, column] = [Math.floor(i / COLUMNS), i % COLUMNS];
    return { name: `t2m/${row}.${column}`, value: chunk(row, column) };
  });
  const entries = [...documents, ...chunks];

  const expectChunk = async ({ store }: ZarrArray, row: number, column: number) =>
    assertBytes(await store.get(`t2m/${row}.${column}`), chunk(row, column));

  async function written(): Promise<Uint8Array> {
    const sink = new MemorySink();
    const writer = new ZipWriter(sink, "zip");
    for (const { name, value } of entries) await writer.set(name, value);
    await writer.finish();
    return sink.bytes;
  }
  const withExtra = () => buildZip(entries.map((e) => ({ ...e, localExtra: new Uint8Array(28) })));

  it.each<[string, () => Uint8Array | Promise<Uint8Array>, { readonly refusesHead?: boolean }]>([
    ["as written here", written, {}],
    ["with its documents last", () => buildZip([...chunks, ...documents]), {}],
    ["with extra fields", withExtra, {}],
    ["of a server that gives no size to a HEAD", withExtra, { refusesHead: true }],
  ])("%s are four at most on opening, then one for chunks beside each other", async (_, make, manners) => {
    const server = await serveValues(new Map([["x.zarr.zip", await make()]]), manners);
    try {
      const array = await openArray(`${server.url}/x.zarr.zip/t2m`);
      expect(array.attributes).toEqual({ units: "K" });
      expect(server.requests.length - (manners.refusesHead ? 1 : 0)).toBeLessThanOrEqual(4);
      server.requests.length = 0;
      await Promise.all([5, 6, 7, 8].map((column) => expectChunk(array, 50, column)));
      expect(server.requests.map(({ headers }) => headers.range !== undefined)).toEqual([true]);
      for (const row of [10, 20, 30]) await expectChunk(array, row, 150);
      expect(server.requests).toHaveLength(4);
      await array.store.close?.();
    } finally {
      await server.close();
    }
  });

  it("are of the same number in S3", () =>
    withBucket(async (server, bucket) => {
      server.objects.set("zips/x.zarr.zip", Buffer.from(buildZip(entries)));
      const array = await openArray(`s3://${bucket}/zips/x.zarr.zip|zip:t2m`);
      expect(server.requests.map(({ method }) => method)).toEqual(["HEAD", "GET", "GET", "GET"]);
      await expectChunk(array, 77, 7);
      expect(server.requests).toHaveLength(5);
    }));
});
