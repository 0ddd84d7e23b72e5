import { execFile } from "node:child_process";
import { createWriteStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { promisify } from "node:util";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { formatSlice, isZarrflowError, type SliceFormat, slice } from "../../src/index.ts";
import { requireBuild, root } from "../built-package.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { writeV2Group } from "../support/v2-store.ts";
import { hasPython, python, runPython } from "./python.ts";
import { hasShared, shared } from "./shared.ts";

/** A file that Python compares with what xarray makes of the same part. */
interface Job {
  readonly store: string;
  readonly variables: readonly string[];
  readonly isel?: Readonly<Record<string, number>>;
  readonly format: SliceFormat;
  readonly file: string;
  readonly decode: boolean;
}

const TABLES: readonly SliceFormat[] = ["csv", "ndjson", "arrow", "arrows", "parquet"];

/** Formats of tables of datasets that are packed in many ways; how they are decoded does not depend on them. */
const PACKED_TABLES: Readonly<Record<string, readonly SliceFormat[]>> = {
  v2: ["csv", "arrow"],
  v3: ["ndjson", "parquet"],
};

/** Datasets, variables of them that make one table, and what is taken of them. */
const DATA_SETS: readonly (readonly [store: string, variables: string, isel?: Record<string, number>])[] = [
  ["data/era5-uk-t2m.zarr", "t2m", { time: 5 }],
  ["data/era5-uk-t2m.zarr", "t2m", { latitude: 3, longitude: 7 }],
  ["data/era-interim-uvz.v3.zarr", "u", { month: 1, level: 0 }],
  ["data/era-interim-uvz.v3.zarr", "u v z", { level: 2, longitude: 100 }],
  ["data/basin-mask.zarr", "basin", { Z: 4 }],
  ["corpus/data/v2/cf-xarray.zarr", "tas"],
  ["corpus/data/v2/cf-xarray.zarr", "pr"],
  ["corpus/data/v2/cf-xarray.zarr", "lead"],
  ["corpus/data/v2/cf-xarray.zarr", "tas lead"],
  ["corpus/data/v2/cf-xarray.zarr", "station"],
  ["corpus/data/v2/cf-xarray.zarr", "time"],
  ["corpus/data/v3/cf-xarray.zarr", "tas"],
  ["corpus/data/v3/cf-xarray.zarr", "pr", { lat: 1 }],
  ["corpus/data/v3/cf-xarray.zarr", "lead"],
  ["corpus/data/v3/cf-xarray.zarr", "station"],
  ["corpus/data/v3/cf-xarray.zarr", "flag"],
];

const writeFormatted = (stream: ReturnType<typeof formatSlice>, file: string) =>
  pipeline(Readable.fromWeb(stream as ReadableStream), createWriteStream(file));

describe.runIf(hasPython)("files of slices, against xarray", () => {
  const folder = temporaryFolder();
  const jobs: Job[] = [];
  beforeEach(() => {
    jobs.length = 0;
  });

  async function write(job: Omit<Job, "file">, maxMemory?: string): Promise<void> {
    const file = join(folder.path, `${jobs.length}.${job.format}`);
    const { store, variables, isel = {}, format, decode } = job;
    const slices = variables.map((name) =>
      slice(`${store}/${name}`, isel, { ...(maxMemory && { maxMemory }), threads: 1 }),
    );
    await writeFormatted(formatSlice(slices, format, { decode }), file);
    jobs.push({ ...job, file });
  }

  /** What differs, by what was compared. */
  async function differing(): Promise<string[]> {
    const list = join(folder.path, "jobs.json");
    writeFileSync(list, JSON.stringify(jobs));
    const found = (await runPython("table_cases.py", "compare", list)) as string[][];
    expect(found.length).toBe(jobs.length);
    const compared = jobs.splice(0);
    return found.flatMap((differences, i) => {
      const { store, variables, format, decode } = compared[i] as Job;
      return differences.map((one) => `${store} ${variables} ${format} ${decode}: ${one}`);
    });
  }

  describe("packed in many ways", () => {
    let names: readonly string[];
    beforeAll(async () => {
      names = (await runPython("table_cases.py", "make", folder.path)) as string[];
    }, 120_000);

    test.each(["v2", "v3"])("%s as tables and as NumPy files", { timeout: 300_000 }, async (format) => {
      const store = join(folder.path, `packed.${format}.zarr`);
      let texts = 0;
      for (const name of names) {
        for (const table of PACKED_TABLES[format] ?? []) {
          // only texts have dates of the Julian calendar
          if (name === "old" && !["csv", "ndjson"].includes(table)) continue;
          await write({ store, variables: [name], format: table, decode: true });
        }
        if (name === "old") continue;
        await write({ store, variables: [name], format: "npy", decode: true }).catch((error: unknown) => {
          if (!isZarrflowError(error, "unsupported-operation")) throw error;
          texts++;
        });
      }
      expect(await differing()).toEqual([]);
      expect(names.length).toBeGreaterThan(200);
      // times of other calendars, and texts
      expect(texts).toBe(5);
    });

    test("text that few rows at a time are made of", async () => {
      const job = {
        store: join(folder.path, "packed.v2.zarr"),
        variables: ["words", "f4_fill", "time_days_f8_fill"],
      };
      for (const format of TABLES) await write({ ...job, format, decode: true }, "480kB");
      expect(await differing()).toEqual([]);
    });

    test("several arrays in an npz file", async () => {
      const store = join(folder.path, "packed.v3.zarr");
      const variables = ["i2_scale_fill", "f4_plain", "time_days_i4", "x"];
      await write({ store, variables, format: "npz", decode: true });
      await write({ store, variables: ["i2_scale_fill", "complex"], format: "npz", decode: false });
      expect(await differing()).toEqual([]);
    });
  });

  test("other programs read what comes through a pipe", { timeout: 120_000 }, async () => {
    requireBuild();
    const store = join(folder.path, "pipes.zarr");
    const items = Float32Array.from({ length: 6 }, (_, i) => i / 2);
    await writeV2Group(store, { t: { shape: [2, 3], chunks: [1, 3], items, dimensions: ["y", "x"] } });
    const zarrflow = `"${process.execPath}" "${join(root, "dist/cli/main.js")}" slice "${store}/t"`;
    const through = async (options: string, program: string) => {
      const line = `set -o pipefail; ${zarrflow} ${options} | "${python}" -c '${program}'`;
      return (await promisify(execFile)("bash", ["-c", line])).stdout.trim();
    };
    const sumOf = (from: string) =>
      `import duckdb; print(duckdb.sql("select sum(t), count(*), max(x) from ${from}").fetchall())`;
    // texts between two dollars, since the program is between quotes
    const columns = "{$$y$$: $$INT$$, $$x$$: $$INT$$, $$t$$: $$FLOAT$$}";
    const csv = `read_csv($$/dev/stdin$$, auto_detect=false, header=true, columns=${columns})`;
    expect(await through("--format csv", sumOf(csv))).toBe("[(7.5, 6, 2)]");
    const stream = "import pyarrow, sys; table_ = pyarrow.ipc.open_stream(sys.stdin.buffer).read_all(); ";
    expect(await through("--format arrows", stream + sumOf("table_"))).toBe("[(7.5, 6, 2)]");
    const raw = `import numpy, sys; print(numpy.frombuffer(sys.stdin.buffer.read(), "<f4").tolist())`;
    expect(await through("", raw)).toBe("[0.0, 0.5, 1.0, 1.5, 2.0, 2.5]");
    const npy = "import io, numpy, sys; print(numpy.load(io.BytesIO(sys.stdin.buffer.read())).sum())";
    expect(await through("--format npy", npy)).toBe("7.5");
  });

  test("zeros keep their sign in Parquet", async () => {
    const store = join(folder.path, "zeros.zarr");
    const items = Float64Array.from({ length: 1000 }, (_, i) => (i === 0 ? -0 : i % 3));
    const array = { shape: [1000], chunks: [1000], dtype: "<f8", items, fillValue: 9, dimensions: ["x"] };
    await writeV2Group(store, { t: array });
    const file = join(folder.path, "zeros.parquet");
    await writeFormatted(formatSlice(slice(`${store}/t`), "parquet"), file);
    const column = `pyarrow.parquet.read_table("${file}")[1].to_numpy()`;
    const program = `import numpy, pyarrow.parquet; print(numpy.signbit(${column}).nonzero()[0])`;
    const { stdout } = await promisify(execFile)(python ?? "", ["-c", program]);
    expect(stdout.trim()).toBe("[0]");
  });

  test.runIf(hasShared)("of real data and of the corpus", { timeout: 300_000 }, async () => {
    for (const [path, variables, isel] of DATA_SETS) {
      const job = { store: `${shared}${path}`, variables: variables.split(" "), ...(isel && { isel }) };
      for (const format of TABLES) await write({ ...job, format, decode: true });
    }
    expect(jobs.length).toBe(DATA_SETS.length * TABLES.length);
    expect(await differing()).toEqual([]);
  });
});
