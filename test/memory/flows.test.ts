// @module-tag long
// @module-tag alone
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openArray, slice } from "../../src/index.ts";
import { command } from "../built-package.ts";
import { hasShared, shared } from "../interop/shared.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { exitOf, startCli } from "../support/cli.ts";
import { digestOf } from "../support/consume.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { type DiscardingBucket, discardingBucket } from "./discarding-bucket.ts";
import { makeGroup, makeRows, makeSteps } from "./made-sources.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOf, peakMemoryOfNode } from "./peak-memory.ts";

const LONG = { timeout: 900_000 };
const MIB = 2 ** 20;
/** What Node, the library and the kernels of two threads take besides the budget. */
const PROGRAM = 120;
/** Else the young generation of V8 grows by a leap of 16 MB when a process gets older, whatever it does. */
const FIXED_HEAP = ["--max-semi-space-size=4", "--expose-gc"];

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
const scripts = {
  appends: fileURLToPath(new URL("append-frames.mjs", import.meta.url)),
  reads: fileURLToPath(new URL("read-corpora.mjs", import.meta.url)),
  stages: fileURLToPath(new URL("stages.mjs", import.meta.url)),
};

describePeaks("peak resident memory of copies", LONG, () => {
  test.each([
    ["100,000 keys", 100_000, 16],
    ["256 MiB", 256, MIB],
  ])("of %s from directory to directory, to zip, and back", async (name, rows, rowBytes) => {
    const source = await makeRows(at("a.zarr"), rows, rowBytes);
    for (const [what, from, to] of [
      ["to a directory", source, at("copy.zarr")],
      ["to a zip", source, at("a.zip")],
      ["of a zip", at("a.zip"), at("back.zarr")],
    ] as const) {
      await expectPeaks(`a copy of ${name} ${what}`, { peak: 150 * MB }, async () => {
        await rm(to, { recursive: true, force: true });
        return peakMemoryOf("copy", from, to);
      });
    }
    for (const name of ["a.zarr", "copy.zarr", "a.zip", "back.zarr"]) await rm(at(name), { recursive: true });
  });

  describe("by way of a zip and S3", () => {
    /** MiB of the two stores that are compared; the larger one may be given by the environment. */
    const SIZES = [64, Number(process.env.ZARRFLOW_LARGE_MIB ?? 512)] as const;
    const source = (mebibytes: number) => at(`${mebibytes}.zarr`);
    const zip = (mebibytes: number) => at(`${mebibytes}.zip`);
    let bucket: DiscardingBucket;
    beforeAll(async () => {
      bucket = await discardingBucket();
      stubEnvironment(bucket.env);
      for (const size of SIZES) await makeRows(source(size), size, MIB);
    });
    afterAll(async () => {
      vi.unstubAllEnvs();
      await bucket.close();
      for (const size of SIZES) await rm(source(size), { recursive: true });
    });

    // the third reads what the second has made
    test.each([
      ["into a zip in S3", source, () => "s3://bucket/x.zarr.zip"],
      ["into a zip", source, zip],
      ["of the zip into a zip in S3", zip, () => "s3://bucket/y.zarr.zip"],
    ] as const)("%s does not grow with the store", async (step, from, into) => {
      const runs = SIZES.map((size) => async () => {
        const to = into(size);
        const before = bucket.received();
        if (to === zip(size)) await rm(to, { force: true });
        const peak = await peakMemoryOf("copy", from(size), to, "--max-mem", "64MB");
        if (to.startsWith("s3:")) expect(bucket.received() - before).toBeGreaterThan(size * MIB);
        return peak;
      });
      const what = `copies of ${SIZES.join(" and ")} MiB ${step}`;
      await expectPeaks(what, { peak: 150 * MB, growth: 30 * MB }, ...runs);
    });
  });
});

describePeaks("peak resident memory of rechunks", LONG, () => {
  const within = ["--max-mem", "128MB"];
  const limits = { peak: (128 + PROGRAM) * MB };

  /** Cuts 1024 steps of so many bands into series. */
  async function intoSeries(source: string, bands: number, ...more: readonly string[]): Promise<number> {
    const target = at("series.zarr");
    const peak = await peakMemoryOf("rechunk", source, target, "--chunks", "-1,16,16", ...within, ...more);
    expect((await readdir(target)).filter((name) => /^\d/.test(name))).toHaveLength(bands * 16 * 32);
    await rm(target, { recursive: true });
    return peak;
  }

  test("does not grow with the array, 512 MiB or 1 GiB, and is as large where values are converted", async () => {
    const [half, whole] = [
      await makeSteps(at("half.zarr"), 1024),
      await makeSteps(at("whole.zarr"), 1024, 2),
    ];
    const growing = { ...limits, growth: 10 * MB };
    const runs = [() => intoSeries(half, 1), () => intoSeries(whole, 2)];
    await expectPeaks("a rechunk of 512 MiB and 1 GiB", growing, ...runs);
    await writeFile(
      at("celsius.mjs"),
      "export default ({ data }) => data.map((kelvin) => kelvin - 273.15);\n",
    );
    for (const flags of [
      ["--dtype", "float64"],
      ["--map", at("celsius.mjs")],
    ])
      await expectPeaks(`a rechunk with ${flags[0]}`, limits, () => intoSeries(half, 1, ...flags));
    for (const source of [half, whole]) await rm(source, { recursive: true });
  });

  test("of an array that becomes one shard of 256 MiB, and chunks again", async () => {
    const STEPS = 512;
    const rechunk = async (from: string, to: string, ...options: readonly string[]) => {
      await rm(to, { recursive: true, force: true });
      return peakMemoryOf("rechunk", from, to, ...options, ...within);
    };
    const [source, sharded, plain] = [
      await makeSteps(at("steps.zarr"), STEPS),
      at("sharded.zarr"),
      at("plain.zarr"),
    ];
    const shards = ["--to", "v3", "--chunks", "128,16,64", "--shards", "-1,-1,-1"];
    await expectPeaks("chunks into a shard", limits, () => rechunk(source, sharded, ...shards));
    expect((await readdir(sharded, { recursive: true })).filter((name) => /\d$/.test(name))).toHaveLength(3);
    await expectPeaks("a digest of the shard", limits, () => peakMemoryOf("digest", sharded, ...within));
    await expectPeaks("a shard into chunks", limits, () => rechunk(sharded, plain, "--chunks", "4,256,512"));
    expect((await readdir(join(plain, "c"))).length).toBe(STEPS / 4);
    const expected = await digestOf(source);
    expect([await digestOf(sharded), await digestOf(plain)]).toEqual([expected, expected]);
  });

  const INTO_SERIES = ["--chunks", "-1,16,64"];
  const ofGroup = (path: string, size: number) => makeGroup(path, 200, size / 128);
  test.each([
    ["direct windows", "t.zarr", [...INTO_SERIES, "--strategy", "direct"], makeSteps],
    ["the staged strategy", "t.zarr", [...INTO_SERIES, "--strategy", "staged"], makeSteps],
    ["a zip", "t.zarr.zip", INTO_SERIES, makeSteps],
    ["shards", "t.zarr", ["--to", "v3", "--chunks", "32,16,64", "--shards", "-1,64,128"], makeSteps],
    ["a hierarchy of 200 arrays", "t.zarr", ["--chunks", "time=-1,y=64,x=64"], ofGroup],
  ] as const)("of %s within 48 MB, at 64 and 128 MiB", async (what, target, options, make) => {
    const budget = ["--max-mem", "48MB", "--threads", "2", "--scratch", folder.path];
    const sources = await Promise.all([128, 256].map((size) => make(at(`${size}-steps.zarr`), size)));
    const runs = sources.map((source) => async () => {
      const peak = await peakMemoryOf("rechunk", source, at(target), ...options, ...budget);
      await rm(at(target), { recursive: true });
      return peak;
    });
    await expectPeaks(what, { peak: (48 + PROGRAM) * MB, growth: 18 * MB }, ...runs);
    for (const source of sources) await rm(source, { recursive: true });
  });

  test("of stages between two grids does not grow with the array", async () => {
    const rechunk = async (count: number) => {
      const place = folder.next("stages");
      const peak = await peakMemoryOfNode(...FIXED_HEAP, scripts.stages, place, `${count}`);
      const target = await openArray(`${place}/target.zarr`);
      const { data } = await target.slice([[count - 2, null], 4, [0, 2]]).read();
      expect([...data]).toEqual([count, count - 1, count + 1, count]);
      await rm(place, { recursive: true });
      return peak;
    };
    const runs = [() => rechunk(64), () => rechunk(192)];
    await expectPeaks("64 and 192 frames through stages", { peak: 130 * MB, growth: 15 * MB }, ...runs);
  });
});

describePeaks("peak resident memory of other flows", LONG, () => {
  test("does not grow with the number of frames that are appended to a zip", async () => {
    const append = async (count: number) => {
      const target = folder.next("movie.zarr.zip");
      const peak = await peakMemoryOfNode(...FIXED_HEAP, scripts.appends, `${target}/movie`, `${count}`);
      const movie = await openArray(`${target}/movie`);
      expect(movie.shape).toEqual([count, 256, 512]);
      const { data } = await slice(movie, { time: [count - 2, null], y: 0, x: 0 }).read();
      expect([...data]).toEqual([count - 2, count - 1]);
      await movie.store.close?.();
      await rm(target);
      return peak;
    };
    const runs = [() => append(1000), () => append(4000)];
    await expectPeaks("1000 and 4000 frames appended", { growth: 15 * MB }, ...runs);
  });

  test("does not grow with the array, 128 or 512 MiB, of a pyramid or an append within 32 MB", async () => {
    const pyramid = async (source: string) => {
      const target = at("pyramid.zarr");
      const peak = await peakMemoryOf("pyramid", source, target, "--levels", "5", "--max-mem", "32MB");
      const [whole, last] = [await openArray(source), await openArray(`${target}/4`)];
      expect(last.shape).toEqual(whole.shape.map((n, d) => (d === 0 ? n : Math.ceil(n / 16))));
      await rm(target, { recursive: true });
      return peak;
    };
    const append = async (source: string, bands: number) => {
      const target = await makeSteps(at(`few-${bands}.zarr`), 8, bands);
      const peak = await peakMemoryOf("append", source, target, "--dim", "time", "--max-mem", "32MB");
      expect((await openArray(target)).shape[0]).toBe(128 + 8);
      await rm(target, { recursive: true });
      return peak;
    };
    const [low, small, large] = [
      await makeSteps(at("low.zarr"), 32, 8),
      await makeSteps(at("small.zarr"), 128, 2),
      await makeSteps(at("large.zarr"), 128, 8),
    ];
    const limits = { peak: (32 + PROGRAM) * MB, growth: 15 * MB };
    // a run of 8 s has not warmed up: one of 28 s took 22 MB more, and one of 70 s, of 1.5 GiB, 3 MB more than that
    const ofPyramids = { ...limits, growth: 30 * MB };
    const pyramids = [() => pyramid(low), () => pyramid(large)];
    await expectPeaks("a pyramid of 128 and 512 MiB", ofPyramids, ...pyramids);
    const appends = [() => append(small, 2), () => append(large, 8)];
    await expectPeaks("128 and 512 MiB appended", limits, ...appends);
    for (const source of [low, small, large]) await rm(source, { recursive: true });
  });

  test("of serve does not exceed the budget of 128 MB, however many clients read", async () => {
    const source = await makeSteps(at("served.zarr"), 1024);
    await expectPeaks("serving 512 MiB", { peak: (128 + PROGRAM) * MB }, () => serve(source));
    await rm(source, { recursive: true });
  });

  /** Measured: 24 kB for each array, most of it what garbage collection leaves. */
  const BYTES_AN_ARRAY = 35_000;
  test("of a hierarchy grows by 35 kB for each array, when it is planned, run and finished", async () => {
    const [few, many] = [500, 2500];
    const runs = [few, many].map((arrays) => {
      const source = smallArrays(arrays);
      let round = 0;
      return async () => {
        const [target, plan] = [`${source}-out-${round}.zarr`, `${source}-${round++}.json`];
        const peaks = [
          await peakMemoryOfNode(command, "plan", "convert", source, target, "--to", "v3", "--output", plan),
          await peakMemoryOfNode(command, "run", plan, "--task-index", "0", "--task-count", "1"),
          await peakMemoryOfNode(command, "finish", plan),
        ];
        return Math.max(...peaks);
      };
    });
    await expectPeaks(`${few} and ${many} arrays`, { growth: (many - few) * BYTES_AN_ARRAY }, ...runs);
  });
});

/** Serves 512 MiB of maps as series, read by 16 clients. Returns the most memory that the server had resident. */
async function serve(source: string): Promise<number> {
  const child = startCli(folder.path, "serve", source, "--chunks", "-1,16,16", "--max-mem", "128MB");
  child.stderr.resume();
  const exit = exitOf(child);
  const url = String((await once(child.stdout, "data"))[0]).trim();
  const { shape, chunks } = await (await fetch(`${url}.zarray`)).json();
  const keys: string[] = [];
  for (let y = 0; y < shape[1] / chunks[1]; y++)
    for (let x = 0; x < shape[2] / chunks[2]; x++) keys.push(`0.${y}.${x}`);
  const read = async () => {
    for (let key = keys.shift(); key !== undefined; key = keys.shift())
      expect((await (await fetch(`${url}${key}`)).arrayBuffer()).byteLength).toBeGreaterThan(0);
  };
  // one that takes nothing of what it asked for
  const stalled = await fetch(`${url}0.0.0`);
  await Promise.all(Array.from({ length: 16 }, read));
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  await stalled.body?.cancel();
  child.kill("SIGTERM");
  expect(await exit).toBe(0);
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

function smallArrays(count: number): string {
  const path = at(`${count}-arrays.zarr`);
  const array = { zarr_format: 2, shape: [8], chunks: [8], dtype: "<f4", compressor: null };
  const document = JSON.stringify({ ...array, fill_value: 0, order: "C", filters: null });
  mkdirSync(path);
  writeFileSync(join(path, ".zgroup"), '{"zarr_format": 2}');
  for (let i = 0; i < count; i++) {
    mkdirSync(join(path, `a${i}`));
    writeFileSync(join(path, `a${i}`, ".zarray"), document);
    writeFileSync(join(path, `a${i}`, "0"), new Uint8Array(32));
  }
  return path;
}

interface ManifestEntry {
  readonly path?: string;
  readonly array?: string | null;
  readonly group?: string;
  readonly slice?: readonly (readonly number[])[];
  readonly array_path?: string;
  readonly tags?: readonly string[];
}

describePeaks("peak resident memory of a process that reads", LONG, () => {
  test.runIf(hasShared).each([
    ["corpus", "cases"],
    ["corpus-legacy", "entries"],
  ])("all of %s, bombs and huge shapes among them", async (corpus, list) => {
    const manifest = JSON.parse(readFileSync(`${shared}${corpus}/manifest.json`, "utf8"));
    const entries = (manifest[list] as ManifestEntry[]).filter(({ path }) => path !== undefined);
    const lines = entries.map(({ path, array, group, array_path, slice, tags = [] }) => {
      // what is made to take long, or much memory, must be refused at once
      const isBomb = tags.some((tag) => ["security", "resource-limit", "bomb"].includes(tag));
      const url = `${shared}${corpus}/${path}/${array ?? group ?? array_path ?? ""}`;
      return JSON.stringify({ url, selection: slice, seconds: isBomb ? 5 : 30 });
    });
    writeFileSync(at(`${corpus}.jsonl`), lines.join("\n"));
    await expectPeaks(`a process that reads ${lines.length} of ${corpus}`, { peak: 300 * MB }, () =>
      peakMemoryOfNode(scripts.reads, at(`${corpus}.jsonl`)),
    );
  });
});
