// @module-tag slow
import { describe, expect, it } from "vitest";
import { ZipStore } from "../../../src/stores/zip.ts";
import { BytesReader } from "../bytes-reader.ts";
import { type ArchiveDraft, buildZip, type EntryDraft } from "./build-zip.ts";

function opened(entries: readonly EntryDraft[], archive: ArchiveDraft = {}): Promise<ZipStore> {
  return ZipStore.open(new BytesReader(buildZip(entries, archive)), "zip test.zip");
}

async function countOf(store: ZipStore): Promise<number> {
  let count = 0;
  for await (const _ of store.list("")) count++;
  return count;
}

const named = (count: number): EntryDraft[] =>
  Array.from({ length: count }, (_, i) => ({ name: `t/${i}`, value: Uint8Array.of(i, i >> 8, i >> 16) }));

describe("a zip directory", () => {
  for (const [count, tags] of [
    [65_536, []],
    [70_001, ["long"]],
  ] as const) {
    it(`whose count of ${count} is stored modulo 65,536 is read whole, with a finding`, {
      tags: [...tags],
    }, async () => {
      const store = await opened(named(count), { claims: { entries: count % 65_536 } });
      expect(await countOf(store)).toBe(count);
      const last = count - 1;
      expect(await store.get(`t/${last}`)).toEqual(Uint8Array.of(last, last >> 8, last >> 16));
      expect(store.findings).toEqual([
        { key: "", message: expect.stringContaining(`states ${count % 65_536} entries, but has ${count}`) },
      ]);
    });
  }

  it.each<[string, ArchiveDraft]>([
    ["fewer entries stated than there are", { claims: { entries: 2 } }],
    ["more entries stated than there are", { claims: { entries: 4 } }],
    ["no entries stated", { claims: { entries: 0 } }],
    ["fewer entries stated, by zip64", { zip64: true, claims: { entries: 2 } }],
    ["a count of zip64 with lost digits", { zip64: true, claims: { entries: 3 + 65_536 } }],
    ["fewer entries stated, and bytes that fit them", { claims: { entries: 2, size: 2 * 49 } }],
  ])("with %s is refused", async (_, archive) => {
    await expect(opened(named(3), archive)).rejects.toMatchObject({
      code: "corrupt-store",
      details: { store: "zip test.zip" },
    });
  });

  it("with a signature after its entries is read", async () => {
    const signature = new Uint8Array([0x50, 0x4b, 5, 5, 3, 0, 1, 2, 3]);
    for (const zip64 of [false, true]) {
      const store = await opened(named(3), { afterDirectory: signature, zip64 });
      expect(await countOf(store)).toBe(3);
    }
  });
});

// A symbolic link is not missing, and not followed.
describe("symbolic links in an archive", () => {
  const LINK = { value: Buffer.from("../secret"), attributes: 0o120777 * 0x10000 };
  const fault = (key: string) => ({ code: "corrupt-store", details: { key, store: "zip test.zip" } });

  it("are errors to read, to size, and to list, and findings", async () => {
    const store = await opened([{ name: "t/0.0", ...LINK }, { name: "u/0.0" }]);
    await expect(store.get("t/0.0")).rejects.toMatchObject(fault("t/0.0"));
    await expect(store.size("t/0.0")).rejects.toMatchObject(fault("t/0.0"));
    await expect(countOf(store)).rejects.toMatchObject(fault("t/0.0"));
    await expect(store.listDirectory("t/").getReader().read()).rejects.toMatchObject(fault("t/0.0"));
    expect(await store.get("t/0.1")).toBeUndefined();
    expect(await store.size("u/0.0")).toBe(0);
    expect(store.findings).toEqual([{ key: "t/0.0", message: expect.stringMatching(/symbolic link/) }]);
  });

  it("are reported by listings that are asked to go on", async () => {
    const store = await opened([{ name: "t/0.0", ...LINK }, { name: "t/0.1" }]);
    for (const list of [store.list.bind(store), store.listDirectory.bind(store)]) {
      const told: unknown[] = [];
      const keys: unknown[] = [];
      const onUnreadable = (name: string, error: Error) => told.push(name, error);
      for await (const entry of list("t/", { onUnreadable })) keys.push(entry);
      expect(keys).toMatchObject([{ key: "t/0.1" }]);
      expect(told).toMatchObject(["t/0.0", fault("t/0.0")]);
    }
  });

  it("to folders are errors for every key below them", async () => {
    const store = await opened([{ name: "g/t", ...LINK }, { name: "g/u/0" }]);
    await expect(store.get("g/t/0.0")).rejects.toMatchObject(fault("g/t"));
    await expect(store.size("g/t/c/0/0")).rejects.toMatchObject(fault("g/t"));
    await expect(store.listDirectory("g/").getReader().read()).rejects.toMatchObject(fault("g/t"));
    expect(await store.get("g/t2/0.0")).toBeUndefined();
  });

  it("that lead to the root of the store are errors on opening", async () => {
    const bytes = buildZip([{ name: "inner.zarr", ...LINK }, { name: "other.zarr/.zgroup" }]);
    await expect(
      ZipStore.open(new BytesReader(bytes), "zip test.zip", { root: "inner.zarr" }),
    ).rejects.toMatchObject(fault("inner.zarr"));
  });

  it("that a later entry replaces are none", async () => {
    const store = await opened([
      { name: "a", ...LINK },
      { name: "a", value: new Uint8Array([1]) },
    ]);
    expect(await store.get("a")).toEqual(new Uint8Array([1]));
  });
});

describe("names with many folders", () => {
  it("of 30,000 levels are refused", async () => {
    await expect(opened([{ name: `${"a/".repeat(30_000)}.zgroup` }])).rejects.toMatchObject({
      code: "resource-limit",
    });
  });

  it("of 1,000 levels are read", async () => {
    const key = `${"a/".repeat(1000)}b`;
    expect(await (await opened([{ name: key, value: Uint8Array.of(4) }])).get(key)).toEqual(Uint8Array.of(4));
  });
});
