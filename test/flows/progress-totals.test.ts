// @module-tag slow
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { convert, copy, type FlowEvent, type FlowOptions, rechunk, sliceTo } from "../../src/index.ts";
import { testFolder } from "../support/cli.ts";
import { ramp, writeV2Array } from "../support/v2-store.ts";

/** Three arrays, of 24,000, 800 and 12 bytes, 100, 4 and 1 chunks, in two groups. */
async function hierarchy(): Promise<string> {
  const folder = join(await testFolder(), "h.zarr");
  await mkdir(join(folder, "deep"), { recursive: true });
  for (const group of [folder, join(folder, "deep")])
    await writeFile(join(group, ".zgroup"), '{"zarr_format":2}');
  const array = (path: string, shape: number[], chunks: number[]) =>
    writeV2Array(join(folder, path), {
      ...{ shape, chunks, dtype: "<f4" },
      items: ramp(shape.reduce((a, b) => a * b)),
    });
  await array("a", [60, 100], [6, 10]);
  await array("deep/b", [20, 10], [5, 10]);
  await array("deep/c", [3], [3]);
  return folder;
}

type Run = (source: string, target: string, options: FlowOptions) => Promise<unknown>;

const chunks = ["a:60,10", "deep/b:20,5"];
const staged = { chunks: "a:60,1", strategy: "staged" } as const;
const recoded: Run = (from, to, options) => copy(from, to, { ...options, codec: "none" });
const converted: Run = (from, to, options) => convert(from, to, { ...options, to: "v3" });
const RUNS: readonly (readonly [string, Run, bytes: number, chunks: number])[] = [
  ["copy", copy, 24_812, 105],
  ["copy with another codec", recoded, 24_812, 105],
  ["convert", converted, 24_812, 105],
  ["rechunk", (from, to, options) => rechunk(from, to, { ...options, chunks }), 24_812, 13],
  ["staged rechunk", (from, to, options) => rechunk(from, to, { ...options, ...staged }), 24_812, 105],
  ["slice", (from, to, options) => sliceTo(`${from}/a`, to, { ...options, slice: [[0, 30]] }), 12_000, 50],
];

async function progressOf(run: Run, source: string, options: FlowOptions = {}) {
  const events: FlowEvent[] = [];
  await run(source, `${source}.out`, { ...options, onEvent: (event) => events.push(event) });
  return events.flatMap((event) => (event.type === "progress" ? event.progress : []));
}

describe("progress of a hierarchy", () => {
  it.each(RUNS)(
    "of %s has the same totals in every event, and ends with all of them",
    async (_, run, bytes, chunks) => {
      const all = await progressOf(run, await hierarchy(), { threads: 1 });
      const arrays = bytes === 12_000 ? 1 : 3;
      for (const { totals } of all) expect(totals).toEqual(all[0]?.totals);
      const last = all.at(-1);
      expect(last).toMatchObject({ arraysDone: arrays, bytesDone: bytes, totals: { arrays, bytes } });
      expect(last?.totals.chunksWritten).toBe(chunks);
      expect(last?.tasks).toBe(last?.totals.tasks);
      expect(last?.arrays.every((array) => array.bytesDone === array.bytes)).toBe(true);
      all.reduce((before, now) => {
        expect(now.bytesDone).toBeGreaterThanOrEqual(before.bytesDone);
        expect(now.arraysDone).toBeGreaterThanOrEqual(before.arraysDone);
        return now;
      });
    },
  );

  it("names arrays by their path in the target", async () => {
    const all = await progressOf(converted, await hierarchy());
    const paths = all.flatMap(({ arrays }) => arrays.map(({ path }) => path));
    expect(new Set(paths)).toEqual(new Set(["a", "deep/b", "deep/c"]));
  });

  it("comes to its end where chunks are missing", async () => {
    const source = await hierarchy();
    await rm(join(source, "a", "3.3"));
    for (const run of [copy, recoded]) {
      expect((await progressOf(run, source)).at(-1)).toMatchObject({ arraysDone: 3, bytesDone: 24_812 });
      await rm(`${source}.out`, { recursive: true });
    }
  });

  it("counts what an update finds to be right once", async () => {
    const source = await hierarchy();
    await copy(source, `${source}.out`);
    const options = { ifExists: "update" } as const;
    expect((await progressOf(copy, source, options)).at(-1)).toMatchObject({ bytesDone: 24_812 });
    await writeFile(join(source, "deep", "b", "3.0"), new Uint8Array(200));
    const all = await progressOf(copy, source, options);
    expect(all.at(-1)).toMatchObject({ arraysDone: 3, bytesDone: 24_812, chunksWritten: 1 });
  });
});
