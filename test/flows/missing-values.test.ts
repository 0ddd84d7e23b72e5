// @module-tag slow
import { describe, expect, test } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { convert, copy, createGroup, diff, openArray, rechunk, slice, sliceTo } from "../../src/index.ts";
import { MemoryStore, namedMemoryStore } from "../../src/stores/memory.ts";
import type { Store } from "../../src/stores/store.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { digestsOf } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";
import { memoryTargets } from "../support/memory-targets.ts";

const target = memoryTargets();

const SHAPE = [6, 8];
const CHUNKS = [2, 3];

interface Sparse {
  readonly zarrFormat: "v2" | "v3";
  readonly fillValue: number | null;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly shards?: readonly number[];
  readonly dataType?: string;
  readonly named?: boolean;
}

/** An array of 3 x 3 chunks of which the first row alone is written. */
async function sparse(url: string, array: Sparse): Promise<void> {
  const { zarrFormat, fillValue, attributes = {}, shards, dataType = "int16", named = true } = array;
  const root = await createGroup(url, { zarrFormat });
  const writer = await root.create("a", {
    shape: SHAPE,
    chunks: CHUNKS,
    dataType: dataType as "int16",
    fillValue,
    attributes: attributes as Record<string, number>,
    ...(shards && { shards }),
    ...(named && { dimensionNames: ["y", "x"] }),
  });
  await writer.write(
    [[0, 2]],
    Int16Array.from({ length: 16 }, (_, i) => i - 3),
  );
  await writer.close();
  await root.close();
}

async function valuesAt(url: string): Promise<number[]> {
  const { data } = await slice(await openArray(`${url}/a`)).read();
  return Array.from(data as ArrayLike<number>, Number);
}

async function countingDifferences(a: string, b: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { what, counts, path, pointer } of diff(a, b)) {
    if (counts) found.push(`${path} ${what} ${pointer ?? ""}`);
  }
  return found;
}

function storeAt(name: string): MemoryStore {
  return namedMemoryStore(name) ?? new MemoryStore();
}

const EXPECTED = Array.from({ length: 48 }, (_, i) => (i < 16 ? i - 3 : 7));

describe("missing chunks of a v3 array whose missing value is another become chunks of its fill value", () => {
  const ways = {
    transcode: {},
    "transcode with another codec": { codec: "zstd" },
    direct: { chunks: "a:y=-1,x=1", strategy: "direct" },
    staged: { chunks: "a:y=-1,x=1", strategy: "staged" },
    "direct in threads": { chunks: "a:y=-1,x=2", strategy: "direct", threads: 2 },
  } as const;

  test.each(Object.entries(ways))("%s", async (name, options) => {
    const source = target("source");
    await sparse(source, { zarrFormat: "v3", fillValue: 7, attributes: { _FillValue: -999 } });
    const to = target("v2");
    if ("chunks" in options) await rechunk(source, to, { to: "v2", ...options });
    else await convert(source, to, { to: "v2", ...options });
    expect(await valuesAt(to), name).toEqual(EXPECTED);
    expect(await digestsOf(to)).toEqual(await digestsOf(source));
    expect((await jsonAt(storeAt("v2"), "a/.zarray")).fill_value).toBe(-999);
    const back = target("back");
    await convert(to, back, { to: "v3" });
    expect(await digestsOf(back)).toEqual(await digestsOf(source));
    if (name === "transcode") expect(await countingDifferences(source, back)).toEqual([]);
  });

  test("of shards", async () => {
    const source = target("source");
    await sparse(source, {
      zarrFormat: "v3",
      fillValue: 7,
      shards: [4, 6],
      attributes: { _FillValue: -999 },
    });
    const to = target("v2");
    await convert(source, to, { to: "v2" });
    expect(await valuesAt(to)).toEqual(EXPECTED);
    expect((await storeAt("v2").get("a/2.2"))?.length).toBeGreaterThan(0);
  });

  test("into shards, on the way back", async () => {
    const source = target("source");
    await sparse(source, { zarrFormat: "v3", fillValue: 7, attributes: { _FillValue: -999 } });
    const there = target("there");
    await convert(source, there, { to: "v2" });
    const back = target("back");
    await rechunk(there, back, { to: "v3", chunks: "a:y=2,x=4", shards: "a:y=4,x=8" });
    expect(await valuesAt(back)).toEqual(EXPECTED);
  });

  test("of a slice: those of the part alone", async () => {
    const source = target("source");
    await sparse(source, { zarrFormat: "v3", fillValue: 7 });
    const to = target("v2");
    await sliceTo(source, to, { slice: { y: [1, 5], x: [0, 8, 2] }, to: "v2" });
    const rows = [1, 2, 3, 4].flatMap((y) => [0, 2, 4, 6].map((x) => EXPECTED[y * 8 + x]));
    expect(await valuesAt(to)).toEqual(rows);
    expect((await jsonAt(storeAt("v2"), "a/.zarray")).fill_value).toBeNull();
  });

  test("fill values null leave nothing undefined", async () => {
    const source = target("source");
    await sparse(source, { zarrFormat: "v3", fillValue: 0 });
    const to = target("v2");
    await copy(source, to, { to: "v2" });
    for (const key of ["a/1.0", "a/2.2"]) expect(await storeAt("v2").get(key), key).toBeDefined();
  });
});

describe("where nothing is missing that would read otherwise, copy stored bytes as they are", () => {
  test("a v3 array that has all of its chunks", async () => {
    const a = { chunks: [2], dataType: "int16", fillValue: 0, dimensionNames: ["x"], values: [1, 2, 3, 4] };
    const source = await given({ at: target("source"), zarrFormat: "v3", arrays: { a } });
    const { plan, close } = await planFlow(source, target("v2"), { to: "v2" });
    await close();
    expect(plan.jobs).toMatchObject([{ strategy: "verbatim", tasks: 0 }]);
    expect(plan.totals.missingChunks).toBe(0);
  });

  test.each([null, -999, 0])(
    "a sparse v2 array with the fill value %s stays sparse in v3",
    async (fillValue) => {
      const source = target("source");
      await sparse(source, { zarrFormat: "v2", fillValue });
      const to = target("v3");
      await convert(source, to, { to: "v3" });
      expect(await storeAt("v3").get("a/c/2/2")).toBeUndefined();
      expect((await jsonAt(storeAt("v3"), "a/zarr.json")).fill_value).toBe(fillValue ?? 0);
      expect(await digestsOf(to)).toEqual(await digestsOf(source));
      const back = target("back");
      await convert(to, back, { to: "v2" });
      expect(await countingDifferences(source, back)).toEqual([]);
      expect(await digestsOf(back)).toEqual(await digestsOf(source));
      expect((await jsonAt(storeAt("back"), "a/.zarray")).fill_value).toBe(fillValue);
    },
  );

  test("without dimension names", async () => {
    const source = target("source");
    await sparse(source, { zarrFormat: "v3", fillValue: 7, named: false });
    const { plan, close } = await planFlow(source, target("v2"), { to: "v2" });
    await close();
    expect(plan.jobs[0]).toMatchObject({ strategy: "verbatim" });
    expect(plan.jobs[0]).not.toHaveProperty("missingChunks");
  });
});

describe("the plan", () => {
  test("counts missing chunks, and its totals are what the run asks for", async () => {
    const source = target("source");
    await sparse(source, { zarrFormat: "v3", fillValue: 7 });
    const asked: string[] = [];
    const logged: Store = withRequestLog(storeAt("source"), ({ operation, key }) => {
      if (operation !== "list" && operation !== "size" && key.startsWith("a/c/")) asked.push(key);
    });
    const { plan, close } = await planFlow(logged, target("v2"), { to: "v2" });
    await close();
    expect(plan.totals).toMatchObject({ missingChunks: 6, chunksRead: 9, chunksWritten: 9 });
    expect(plan.jobs[0]?.notTaken).toEqual([
      { strategy: "verbatim", reason: expect.stringContaining("missing chunks are written") },
    ]);
    let report: unknown;
    await convert(logged, target("v2"), {
      to: "v2",
      threads: 1,
      onEvent: (event) => {
        if (event.type === "done") report = event.report;
      },
    });
    expect(asked.length).toBe(9);
    expect(report).toMatchObject({ chunksRead: 9, chunksWritten: 9 });
  });

  test("of a slice counts those that it touches", async () => {
    const source = target("source");
    await sparse(source, { zarrFormat: "v3", fillValue: 7 });
    const { plan, close } = await planFlow(source, target("v2"), { slice: { y: [1, 3] }, to: "v2" });
    await close();
    expect(plan.totals.missingChunks).toBe(3);
  });

  test("more than 10,000 are refused by their pointer, unless allowed", async () => {
    const grid = { shape: [10_001], chunks: [1], dimensionNames: ["x"] };
    const a = { ...grid, dataType: "int8", fillValue: 1, values: null };
    const source = await given({ at: target("source"), zarrFormat: "v3", arrays: { a } });
    const to = target("v2");
    await expect(convert(source, to, { to: "v2" })).rejects.toMatchObject({
      code: "loss-refused",
      message: expect.stringContaining("10,001 missing chunks"),
      details: { path: "a", pointers: ["/fill_value"] },
    });
    await convert(source, to, { to: "v2", allowLoss: ["/fill_value"] });
    expect(await digestsOf(to)).toEqual(await digestsOf(source));
    expect(await storeAt("v2").get("a/10000")).toBeDefined();
  });

  test("counts the missing ones of a thousand million chunks without going through them", async () => {
    const source = target("source");
    const root = await createGroup(source, { zarrFormat: "v3" });
    const array = {
      shape: [1e9],
      chunks: [1],
      dataType: "int8",
      fillValue: 1,
      dimensionNames: ["x"],
    } as const;
    const writer = await root.create("a", array);
    await writer.write({ x: [7, 9] }, Int8Array.of(2, 3));
    await writer.close();
    await root.close();
    await expect(convert(source, target("v2"), { to: "v2" })).rejects.toMatchObject({
      code: "loss-refused",
      message: expect.stringContaining("999,999,998 missing chunks"),
    });
  });

  test("warns of what xarray will not find, and says so when it runs", async () => {
    const names = { dataType: "string", fillValue: "x", dimensionNames: ["x"], values: ["a", "x"] };
    const source = await given({ at: target("source"), zarrFormat: "v2", arrays: { names } });
    const warnings: unknown[] = [];
    await convert(source, target("v3"), {
      to: "v3",
      onEvent: (event) => {
        if (event.type === "warning") warnings.push(event);
      },
    });
    expect(warnings).toMatchObject([{ path: "names", message: expect.stringContaining('"x"') }]);
  });
});

test("empty bytes are written where the fill value is the number 0, which zarr-python 2 reads itself", async () => {
  const document = {
    ...{ zarr_format: 2, shape: [2], chunks: [2], dtype: "|O", compressor: null, fill_value: 0, order: "C" },
    filters: [{ id: "vlen-bytes" }],
  };
  const chunk = new Uint8Array(new Uint32Array([2, 0, 0]).buffer);
  const store = await givenKeys({ ".zarray": document, 0: chunk });
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
    const url = await given({ at: target(`items-${strategy}`), zarrFormat: "v3", arrays });
    const rechunked = target(`no-items-${strategy}`);
    await rechunk(url, rechunked, { chunks: { t: 4, x: 2 }, strategy });
    expect((await openArray(`${rechunked}/empty`)).chunkShape).toEqual([4, 2]);
  },
);
