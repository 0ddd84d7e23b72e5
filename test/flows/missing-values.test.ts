// @module-tag slow
import { describe, expect, test } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { convert, copy, createGroup, diff, openArray, rechunk, sliceTo } from "../../src/index.ts";
import { MemoryStore, namedMemoryStore } from "../../src/stores/memory.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { all, digestsOf, itemsOf } from "../support/consume.ts";
import { type GivenArray, given, givenKeys } from "../support/given.ts";
import { heard } from "../support/heard.ts";
import { memoryTargets } from "../support/memory-targets.ts";

const target = memoryTargets();
const storeAt = (url: string) => namedMemoryStore(url.slice("memory:".length)) ?? new MemoryStore();

interface Sparse {
  readonly zarrFormat?: "v2" | "v3";
  readonly fillValue: number | null;
  readonly attributes?: Record<string, number>;
  readonly shards?: readonly number[];
  readonly dimensionNames?: readonly string[];
}

/** A group with an array of 3 x 3 chunks of which the first row alone is written, by its URL. */
async function sparse({ zarrFormat = "v3", ...array }: Sparse): Promise<string> {
  const url = target("source");
  const root = await createGroup(url, { zarrFormat });
  const grid = { shape: [6, 8], chunks: [2, 3], dataType: "int16", dimensionNames: ["y", "x"] } as const;
  const writer = await root.create("a", { ...grid, ...array });
  const values = Int16Array.from({ length: 16 }, (_, i) => i - 3);
  await writer.write([[0, 2]], values);
  await writer.close();
  await root.close();
  return url;
}
const EXPECTED = Array.from({ length: 48 }, (_, i) => (i < 16 ? i - 3 : 7));

async function planOf(source: Parameters<typeof planFlow>[0], options: Parameters<typeof planFlow>[2] = {}) {
  const { plan, close } = await planFlow(source, target("v2"), { to: "v2", ...options });
  await close();
  return plan;
}

async function countingDifferences(a: string, b: string): Promise<string[]> {
  const found = (await all(diff(a, b))).filter(({ counts }) => counts);
  return found.map(({ path, what, pointer }) => `${path} ${what} ${pointer}`);
}

describe("missing chunks of a v3 array whose missing value is another become chunks of its fill value", () => {
  const other = { fillValue: 7, attributes: { _FillValue: -999 } };

  test.each([
    ["transcode", {}],
    ["transcode with another codec", { codec: "zstd" }],
    ["direct", { chunks: "a:y=-1,x=1", strategy: "direct" }],
    ["staged", { chunks: "a:y=-1,x=1", strategy: "staged" }],
    ["direct in threads", { chunks: "a:y=-1,x=2", strategy: "direct", threads: 2 }],
  ] as const)("%s", async (name, options) => {
    const [source, to, back] = [await sparse(other), target("v2"), target("back")];
    if ("chunks" in options) await rechunk(source, to, { to: "v2", ...options });
    else await convert(source, to, { to: "v2", ...options });
    expect(await itemsOf(storeAt(to), "a")).toEqual(EXPECTED);
    expect((await jsonAt(storeAt(to), "a/.zarray")).fill_value).toBe(-999);
    await convert(to, back, { to: "v3" });
    for (const url of [to, back]) expect(await digestsOf(url)).toEqual(await digestsOf(source));
    if (name === "transcode") expect(await countingDifferences(source, back)).toEqual([]);
  });

  test("of shards, and into shards on the way back", async () => {
    const [source, to, back] = [await sparse({ ...other, shards: [4, 6] }), target("v2"), target("back")];
    await convert(source, to, { to: "v2" });
    expect((await storeAt(to).get("a/2.2"))?.length).toBeGreaterThan(0);
    await rechunk(to, back, { to: "v3", chunks: "a:y=2,x=4", shards: "a:y=4,x=8" });
    for (const url of [to, back]) expect(await itemsOf(storeAt(url), "a")).toEqual(EXPECTED);
  });

  test("of a slice: those of the part alone", async () => {
    const [source, to] = [await sparse({ fillValue: 7 }), target("v2")];
    const slice = { y: [1, 5], x: [0, 8, 2] } as const;
    expect((await planOf(source, { slice: { y: [1, 3] } })).totals.missingChunks).toBe(3);
    await sliceTo(source, to, { slice, to: "v2" });
    const rows = [1, 2, 3, 4].flatMap((y) => [0, 2, 4, 6].map((x) => EXPECTED[y * 8 + x]));
    expect(await itemsOf(storeAt(to), "a")).toEqual(rows);
    expect((await jsonAt(storeAt(to), "a/.zarray")).fill_value).toBeNull();
  });
});

describe("where nothing is missing that would read otherwise, copy stored bytes unchanged", () => {
  test("a v3 array that has all of its chunks", async () => {
    const a = { chunks: [2], dataType: "int16", dimensionNames: ["x"], values: [1, 2, 3, 4] };
    const { jobs, totals } = await planOf(await given({ arrays: { a } }));
    expect(jobs).toMatchObject([{ strategy: "verbatim", tasks: 0 }]);
    expect(totals.missingChunks).toBe(0);
  });

  test.each([null, -999, 0])(
    "a sparse v2 array with the fill value %s stays sparse in v3",
    async (fillValue) => {
      const [source, to, back] = [
        await sparse({ zarrFormat: "v2", fillValue }),
        target("v3"),
        target("back"),
      ];
      await convert(source, to, { to: "v3" });
      expect(await storeAt(to).get("a/c/2/2")).toBeUndefined();
      expect((await jsonAt(storeAt(to), "a/zarr.json")).fill_value).toBe(fillValue ?? 0);
      await convert(to, back, { to: "v2" });
      expect(await countingDifferences(source, back)).toEqual([]);
      for (const url of [to, back]) expect(await digestsOf(url)).toEqual(await digestsOf(source));
      expect((await jsonAt(storeAt(back), "a/.zarray")).fill_value).toBe(fillValue);
    },
  );

  test("without dimension names", async () => {
    const a = { shape: [4], chunks: [2], dataType: "int16", fillValue: 7, values: null };
    const [job] = (await planOf(await given({ arrays: { a } }))).jobs;
    expect(job).toMatchObject({ strategy: "verbatim" });
    expect(job).not.toHaveProperty("missingChunks");
  });
});

describe("the plan", () => {
  /** A group with an array of chunks of one item, none of which is stored. */
  const unwritten = (length: number) => {
    const grid = { shape: [length], chunks: [1], dimensionNames: ["x"] };
    const a: GivenArray = { ...grid, dataType: "int8", fillValue: 1, values: null };
    return given({ at: target("source"), arrays: { a } });
  };

  test("counts missing chunks, and its totals are what the run asks for", async () => {
    const asked: string[] = [];
    const logged = withRequestLog(storeAt(await sparse({ fillValue: 7 })), ({ operation, key = "" }) => {
      if (operation === "get" && key.startsWith("a/c/")) asked.push(key);
    });
    const { totals, jobs } = await planOf(logged);
    expect(totals).toMatchObject({ missingChunks: 6, chunksRead: 9, chunksWritten: 9 });
    const reason = expect.stringContaining("missing chunks are written");
    expect(jobs[0]?.notTaken).toEqual([{ strategy: "verbatim", reason }]);
    const to = target("v2");
    const report = await convert(logged, to, { to: "v2", threads: 1 });
    expect(asked).toHaveLength(9);
    expect(report).toMatchObject({ chunksRead: 9, chunksWritten: 9 });
    expect((await jsonAt(storeAt(to), "a/.zarray")).fill_value).toBeNull();
    for (const key of ["a/1.0", "a/2.2"]) expect(await storeAt(to).get(key), key).toBeDefined();
  });

  test("more than 10,000 are refused by their pointer, unless allowed", async () => {
    const [source, to] = [await unwritten(10_001), target("v2")];
    await expect(convert(source, to, { to: "v2" })).rejects.toMatchObject({
      code: "loss-refused",
      message: expect.stringContaining("10,001 missing chunks"),
      details: { path: "a", pointers: ["/fill_value"] },
    });
    const { totals } = await planOf(source, { allowLoss: ["/fill_value"] });
    expect(totals).toMatchObject({ missingChunks: 10_001, chunksWritten: 10_001 });
  });

  test("counts the missing ones of a thousand million chunks without going through them", async () => {
    const source = await unwritten(1e9);
    for (const i of [7, 8]) await storeAt(source).set(`a/c/${i}`, Uint8Array.of(i));
    await expect(convert(source, target("v2"), { to: "v2" })).rejects.toMatchObject({
      code: "loss-refused",
      message: expect.stringContaining("999,999,998 missing chunks"),
    });
  });

  test("warns of what xarray will not find, and says so when it runs", async () => {
    const names = { dataType: "string", fillValue: "x", dimensionNames: ["x"], values: ["a", "x"] };
    const { warnings, onEvent } = heard();
    const source = await given({ zarrFormat: "v2", arrays: { names } });
    await convert(source, target("v3"), { to: "v3", onEvent });
    expect(warnings).toEqual([expect.stringMatching(/^names: .*"x"/)]);
  });
});

test("empty bytes are written where the fill value is the number 0, which zarr-python 2 reads itself", async () => {
  const document = { zarr_format: 2, shape: [2], chunks: [2], dtype: "|O", fill_value: 0, order: "C" };
  const store = await givenKeys({
    ".zarray": { ...document, compressor: null, filters: [{ id: "vlen-bytes" }] },
    0: new Uint8Array(new Uint32Array([2, 0, 0]).buffer),
  });
  const copied = new MemoryStore();
  await copy(store, copied, { codec: "zstd" });
  expect(await copied.get("0")).toBeDefined();
  expect(await jsonAt(copied, ".zarray")).toMatchObject({ fill_value: 0 });
});

test.each(["direct", "staged"] as const)(
  "an array without items fits every strategy (%s)",
  async (strategy) => {
    const array = { chunks: [1, 8], dataType: "int32", dimensionNames: ["t", "x"], values: null };
    const arrays = { full: { ...array, shape: [8, 8] }, empty: { ...array, shape: [8, 0] } };
    const rechunked = target("no-items");
    await rechunk(await given({ arrays }), rechunked, { chunks: { t: 4, x: 2 }, strategy });
    expect((await openArray(`${rechunked}/empty`)).chunkShape).toEqual([4, 2]);
  },
);
