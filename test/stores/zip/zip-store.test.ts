// @module-tag slow
import * as fs from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { storeChecks } from "../../../src/stores/testing.ts";
import { openZipFile, ZipStore, type ZipStoreOptions } from "../../../src/stores/zip.ts";
import { all, keysOf } from "../../support/consume.ts";
import { BytesReader } from "../bytes-reader.ts";
import { assertBytes } from "../expect-bytes.ts";
import { temporaryFolder } from "../temporary-folder.ts";
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

describe.each([
  ["stored", 0],
  ["deflated", 8],
])("ZipStore, %s entries", (_, method) => {
  const archiveOf = (values: ReadonlyMap<string, Uint8Array>) =>
    buildZip([...values].map(([name, value]) => ({ name, value, method })));
  for (const { name, run } of storeChecks({
    lists: true,
    filled: async (values) => openBytes(archiveOf(values)),
  }))
    it(name, () => run());
});

describe("ZipStore of a file", () => {
  const filled = async (values: ReadonlyMap<string, Uint8Array>) => {
    const path = folder.next("x.zip");
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, buildZip([...values].map(([name, value]) => ({ name, value }))));
    return openZipFile(path);
  };
  for (const { name, run } of storeChecks({ lists: true, filled })) it(name, () => run());

  it("that is not there is not found", async () => {
    await expect(openZipFile(folder.next("none.zip"))).rejects.toMatchObject({ code: "not-found" });
    await expect(openZipFile(folder.path)).rejects.toMatchObject({ code: "not-found" });
  });
});

// V2-82
describe("archives that others write", () => {
  it.each<[string, Partial<EntryDraft>, ArchiveDraft]>([
    ["a comment", { comment: "of the entry" }, { comment: Buffer.from("of the archive") }],
    [
      "an end signature in the comment",
      {},
      { comment: Buffer.from("PK\x05\x06 is not the end of this archive") },
    ],
    ["the longest comment", {}, { comment: new Uint8Array(0xffff).fill(65) }],
    ["bytes glued before", {}, { before: new Uint8Array(777).fill(80) }],
    ["zip64 fields", {}, { zip64: true }],
    ["data descriptors", { descriptor: true }, {}],
    ["a longer extra field in the local header", { localExtra: new Uint8Array(100) }, {}],
    ["a longer extra field in the directory", { extra: new Uint8Array([0xfe, 0xca, 2, 0, 1, 1]) }, {}],
    ["names not marked as UTF-8", { flags: 0 }, {}],
  ])("with %s are read", async (_, draft, archive) => {
    for (const method of [0, 8]) {
      const store = await opened(
        [
          { name: "a/.zarray", value: DATA, method, ...draft },
          { name: "a/0.0", value: BIG, method, ...draft },
          { name: "a/0.1", value: new Uint8Array(0), method, ...draft },
        ],
        archive,
      );
      expect(await keysOf(store)).toEqual(["a/.zarray", "a/0.0", "a/0.1"]);
      expect(await store.get("a/.zarray")).toEqual(DATA);
      assertBytes(await store.get("a/0.0"), BIG);
      expect(await store.get("a/0.0", { range: { offset: 5, length: 9 } })).toEqual(BIG.subarray(5, 14));
      expect(await store.get("a/0.1")).toEqual(new Uint8Array(0));
      expect(store.findings).toEqual([]);
    }
  });

  it("without entries are empty stores", async () => {
    expect(await keysOf(await opened([]))).toEqual([]);
  });

  it("with one name twice give the later entry, and a finding", async () => {
    const store = await opened([
      { name: "a", value: new Uint8Array([1]) },
      { name: "b", value: new Uint8Array([2]) },
      { name: "a", value: new Uint8Array([3, 3]) },
    ]);
    expect(await store.get("a")).toEqual(new Uint8Array([3, 3]));
    expect(await keysOf(store)).toEqual(["a", "b"]);
    expect(store.findings).toEqual([
      { key: "a", message: expect.stringMatching(/later/), isDuplicate: true },
    ]);
  });

  it("with thousands of odd names tell how many there are", async () => {
    const store = await opened(Array.from({ length: 3001 }, () => ({ name: "a" })));
    expect(await keysOf(store)).toEqual(["a"]);
    expect(store.findings).toHaveLength(1001);
    expect(store.findings.at(-1)?.message).toMatch(/^2000 /);
  });

  it("have keys for files alone: folders are left out, odd names with a finding", async () => {
    const store = await opened([
      { name: "a/" },
      { name: "a/0", value: DATA },
      { name: "" },
      { name: "./b" },
      { name: "c//d" },
      { name: "e\0" },
    ]);
    expect(await keysOf(store)).toEqual(["a/0"]);
    expect(store.findings.map(({ key }) => key)).toEqual(["", "./b", "c//d", "e\0"]);
  });

  it.each(["../evil", "a/../../evil", "/etc/evil", "C:\\evil", "..\\evil", "../"])(
    "with the name %j, which leaves them, are refused",
    async (name) => {
      await expect(opened([{ name: "a" }, { name }])).rejects.toMatchObject({
        code: "path-not-allowed",
        details: { store: "zip test.zip" },
      });
    },
  );

  it("of a folder with its own name are read from that root", async () => {
    const bytes = buildZip([
      { name: "inner.zarr/.zgroup", value: DATA },
      { name: "inner.zarr/a/0", value: BIG },
      { name: "inner.zarr-not/.zgroup" },
    ]);
    const store = await openBytes(bytes, { root: "inner.zarr" });
    expect(await keysOf(store)).toEqual([".zgroup", "a/0"]);
    assertBytes(await store.get("a/0"), BIG);
    const top = await all((await openBytes(bytes)).listDirectory(""));
    expect(top).toEqual([{ prefix: "inner.zarr-not/" }, { prefix: "inner.zarr/" }]);
    await expect(openBytes(bytes, { root: "../x" })).rejects.toMatchObject({ code: "path-not-allowed" });
  });
});

describe("broken archives", () => {
  const good = buildZip([
    { name: "a", value: DATA },
    { name: "b", value: DATA, method: 8 },
  ]);

  it.each<[string, Uint8Array]>([
    ["no bytes", new Uint8Array(0)],
    ["no zip", new Uint8Array(500).fill(7)],
    ["cut off", good.subarray(0, good.length - 10)],
    ["cut off in the middle", good.subarray(0, good.length / 2)],
    ["bytes after the end", new Uint8Array([...good, 1, 2, 3])],
    ["more entries announced than there are", buildZip([{ name: "a" }], { claims: { entries: 2 } })],
    ["a directory outside", buildZip([{ name: "a" }], { claims: { offset: 1_000_000 } })],
  ])("%s: corrupt-store", async (_, bytes) => {
    const reader = new BytesReader(bytes);
    await expect(ZipStore.open(reader, "zip test.zip")).rejects.toMatchObject({
      code: "corrupt-store",
      details: { store: "zip test.zip" },
    });
    expect(reader.isClosed).toBe(true);
  });

  it("whose directory is elsewhere than stated give no value", async () => {
    const store = await opened([{ name: "a", value: DATA }], { claims: { offset: 3 } });
    await expect(store.get("a")).rejects.toMatchObject({ code: "corrupt-store" });
  });

  it("in several files: unsupported-operation", async () => {
    await expect(opened([{ name: "a" }], { claims: { disk: 1 } })).rejects.toMatchObject({
      code: "unsupported-operation",
    });
  });

  it("every truncation is refused", async () => {
    for (let length = 0; length < good.length; length++) {
      await expect(openBytes(good.subarray(0, length))).rejects.toMatchObject({ code: "corrupt-store" });
    }
  });

  it("no changed byte gives a wrong value: it is read right, missing, or an error of ours", async () => {
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

  it.each<[string, EntryDraft, string]>([
    ["another CRC", { name: "bad", value: DATA, claims: { crc32: 1 } }, "corrupt-store"],
    ["another CRC, deflated", { name: "bad", value: DATA, method: 8, claims: { crc32: 1 } }, "corrupt-store"],
    [
      "a longer value than stated",
      { name: "bad", value: DATA, method: 8, claims: { size: 999 } },
      "corrupt-store",
    ],
    [
      "a shorter value than stated",
      { name: "bad", value: DATA, method: 8, claims: { size: 1001 } },
      "corrupt-store",
    ],
    [
      "a stated size beyond all reason",
      { name: "bad", value: DATA, method: 8, claims: { size: 2 ** 31 } },
      "corrupt-store",
    ],
    ["two sizes, stored", { name: "bad", value: DATA, claims: { size: 999 } }, "corrupt-store"],
    ["data outside", { name: "bad", value: DATA, claims: { size: 9999, packedSize: 9999 } }, "corrupt-store"],
    ["a local header outside", { name: "bad", value: DATA, claims: { offset: 99_999 } }, "corrupt-store"],
    ["a local header elsewhere", { name: "bad", value: DATA, claims: { offset: 1 } }, "corrupt-store"],
    ["encryption", { name: "bad", value: DATA, flags: 0x0801 }, "unsupported-operation"],
    ["another method", { name: "bad", value: DATA, method: 12 }, "unsupported-operation"],
  ])("an entry with %s fails alone", async (_, bad, code) => {
    const store = await opened([{ name: "good", value: DATA }, bad]);
    await expect(store.get("bad")).rejects.toMatchObject({
      code,
      details: { key: "bad", store: "zip test.zip" },
    });
    expect(await store.get("good")).toEqual(DATA);
  });

  it("allocate may refuse an entry for its size, before a byte of it is inflated", async () => {
    const bomb = new Uint8Array(50_000_000);
    const store = await opened([{ name: "bomb", value: bomb, method: 8 }]);
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
  const entries = Array.from({ length: 10_000 }, (_, i) => ({
    name: `a/${i}`,
    value: DATA.subarray(0, 100),
  }));

  it("are few on opening, and one for many small entries beside each other", async () => {
    const reader = new BytesReader(buildZip(entries));
    const store = await ZipStore.open(reader, "zip test.zip");
    expect(reader.reads.length).toBeLessThanOrEqual(2);
    reader.reads.length = 0;
    for (let i = 0; i < 200; i++) expect(await store.get(`a/${i}`)).toEqual(DATA.subarray(0, 100));
    expect(reader.reads).toHaveLength(1);
    expect(reader.reads[0]?.length).toBeLessThanOrEqual(32 * 1024);
  });

  it("are one an entry where entries are large, of its bytes alone, into the caller's buffer", async () => {
    const large = Array.from({ length: 20 }, (_, i) => ({ name: `a/${i}`, value: BIG }));
    const reader = new BytesReader(buildZip(large));
    const store = await ZipStore.open(reader, "zip test.zip");
    reader.reads.length = 0;
    for (let i = 0; i < 19; i++) assertBytes(await store.get(`a/${i}`), BIG);
    expect(reader.reads.map(({ length }) => length)).toEqual(Array.from({ length: 19 }, () => BIG.length));
    const part = await store.get("a/3", { range: { offset: 100_000, length: 50 } });
    expect(part).toEqual(BIG.subarray(100_000, 100_050));
    expect(reader.reads.at(-1)?.length).toBe(50);
  });

  it("are one an entry with extra fields of one length, once the first header shows it", async () => {
    const large = Array.from({ length: 20 }, (_, i) => ({
      name: `a/${i}`,
      value: BIG,
      localExtra: new Uint8Array(28),
    }));
    const reader = new BytesReader(buildZip(large));
    const store = await ZipStore.open(reader, "zip test.zip");
    reader.reads.length = 0;
    for (let i = 0; i < 19; i++) assertBytes(await store.get(`a/${i}`), BIG);
    expect(reader.reads).toHaveLength(20);
  });

  it("tell the begin of a part by the local header, where the next entry does not", async () => {
    const drafts = [
      { name: "a", value: BIG, descriptor: true },
      { name: "b", value: BIG, localExtra: new Uint8Array(9) },
      { name: "c", value: BIG },
    ];
    for (const order of [drafts, drafts.toReversed()]) {
      const store = await openBytes(buildZip(order));
      for (const name of ["a", "b", "c"]) {
        const bytes = await store.get(name, { range: { offset: 150_000, length: 70 } });
        expect(bytes).toEqual(BIG.subarray(150_000, 150_070));
      }
    }
  });

  it("of few bytes come with the local header, which is checked", async () => {
    const bytes = buildZip(entries.slice(0, 3));
    bytes.set(Buffer.from("XX"), Buffer.from(bytes).indexOf("PK\x03\x04", 10));
    const store = await openBytes(bytes);
    expect(await store.get("a/0")).toEqual(DATA.subarray(0, 100));
    await expect(store.get("a/1")).rejects.toMatchObject({ code: "corrupt-store", details: { key: "a/1" } });
  });

  it("of a part ask for that part alone, once the begin of the data is known", async () => {
    const reader = new BytesReader(buildZip([{ name: "shard", value: BIG }]));
    const store = await ZipStore.open(reader, "zip test.zip");
    await store.get("shard", { range: { suffix: 4 } });
    reader.reads.length = 0;
    const bytes = await store.get("shard", { range: { offset: 100_000, length: 50 } });
    expect(bytes).toEqual(BIG.subarray(100_000, 100_050));
    expect(reader.reads.map(({ length }) => length)).toEqual([50]);
  });

  it("that fail come through as they are", async () => {
    const failure = new TypeError("fetch failed");
    const failing = new BytesReader(buildZip(entries));
    expect(failing.size).toBeGreaterThan(500_000);
    const read = failing.read.bind(failing);
    let left = 1;
    failing.read = async (...args) => (left-- > 0 ? read(...args) : Promise.reject(failure));
    await expect(ZipStore.open(failing, "zip test.zip")).rejects.toBe(failure);
    expect(failing.isClosed).toBe(true);
  });

  it("stop on an aborted signal, with its reason", async () => {
    const reason = { why: "enough" };
    const controller = new AbortController();
    const reader = new BytesReader(buildZip(entries));
    const read = reader.read.bind(reader);
    reader.read = async (...args) => {
      const bytes = await read(...args);
      controller.abort(reason);
      return bytes;
    };
    await expect(ZipStore.open(reader, "zip test.zip", { signal: controller.signal })).rejects.toMatchObject({
      code: "aborted",
      cause: reason,
    });
  });
});
