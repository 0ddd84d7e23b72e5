import * as fs from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { openZipFile, ZipStore } from "../../../src/stores/zip.ts";
import { BytesReader } from "../bytes-reader.ts";
import { assertBytes } from "../expect-bytes.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { buildZip, type EntryDraft } from "./build-zip.ts";

const folder = temporaryFolder();

/** Bytes that do not deflate well, all different from place to place. */
const DATA = new Uint8Array(1_000_000).map((_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 13);

type Opener = (drafts: readonly EntryDraft[]) => Promise<ZipStore>;
const openers: readonly [string, Opener][] = [
  ["far away", (drafts) => ZipStore.open(new BytesReader(buildZip(drafts)), "zip test.zip")],
  [
    "in a file",
    (drafts) => {
      const path = folder.next("x.zip");
      fs.mkdirSync(dirname(path), { recursive: true });
      fs.writeFileSync(path, buildZip(drafts));
      return openZipFile(path);
    },
  ],
];

/** An entry whose data descriptor is as long as the extra field of the one that is read before it. */
const misleading = (value: Uint8Array, method: number): readonly EntryDraft[] => [
  { name: "c", value, method, descriptor: true },
  { name: "d", value: DATA.subarray(5, 40), localExtra: new Uint8Array(16) },
  { name: "e", value: DATA.subarray(7, 9) },
];

describe.each(openers)("where data start, guessed wrongly in an archive %s", (_, opened) => {
  it.each([
    ["stored", 0, 32_769],
    ["stored", 0, 600_000],
    ["deflated", 8, 600_000],
  ])("is asked of the local header when the CRC differs: %s", async (_, method, length) => {
    const value = DATA.subarray(0, length);
    const store = await opened(misleading(value, method));
    assertBytes(await store.get("d"), DATA.subarray(5, 40));
    assertBytes(await store.get("c"), value);
    const into = new Uint8Array(length);
    await store.get("d");
    const found = store.getSync?.("c", { into });
    if (found !== undefined) assertBytes(into, value);
    await store.close();
  });

  it.each([
    ["stored", 0],
    ["deflated", 8],
  ])("is never taken for a part, which no CRC checks: %s", async (_, method) => {
    const value = DATA.subarray(0, 600_000);
    const store = await opened(misleading(value, method));
    await store.get("d");
    const part = await store.get("c", { range: { offset: 400_000, length: 1000 } });
    assertBytes(part, value.subarray(400_000, 401_000));
    await store.close();
  });

  it.each([
    ["stored", 0],
    ["deflated", 8],
  ])("is not taken for a part where the local name has another length: %s", async (_, method) => {
    const value = DATA.subarray(0, 600_000);
    const name = "a-name-of-17-char";
    const drafts: EntryDraft[] = [
      { name, localName: "c", value, method, descriptor: true },
      { name: "d", value: DATA.subarray(5, 40) },
    ];
    const store = await opened(drafts);
    const ranges = [
      { offset: 400_000, length: 1000 },
      { suffix: 50_000 },
      { offset: 100, length: 500_000 },
    ] as const;
    for (const range of ranges) {
      const start = "suffix" in range ? value.length - range.suffix : range.offset;
      const length = "suffix" in range ? range.suffix : range.length;
      assertBytes(await store.get(name, { range }), value.subarray(start, start + length));
    }
    assertBytes(await store.get(name), value);
    await store.close();
  });

  it("that the entry is broken is still reported", async () => {
    const [c, ...rest] = misleading(DATA.subarray(0, 40_000), 0);
    const store = await opened([{ ...c, name: "c", claims: { crc32: 1 } }, ...rest]);
    await store.get("d");
    await expect(store.get("c")).rejects.toMatchObject({ code: "corrupt-store", details: { key: "c" } });
    await store.close();
  });
});

it("a part of an entry far away is two requests at one time, then one", async () => {
  const drafts = [0, 1].map((i) => ({ name: `c/${i}`, value: DATA.subarray(i, 900_000) }));
  const reader = new BytesReader(buildZip(drafts));
  const store = await ZipStore.open(reader, "zip test.zip");
  reader.reads.length = 0;
  await store.get("c/0", { range: { suffix: 1000 } });
  expect(reader.reads.map(({ length }) => length)).toEqual([33, 1000]);
  reader.reads.length = 0;
  await store.get("c/0", { range: { offset: 300_000, length: 1000 } });
  expect(reader.reads.map(({ length }) => length)).toEqual([1000]);
});
