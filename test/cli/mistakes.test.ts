// @module-tag slow
// @module-tag sampled
import { chmod, cp, mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCommand } from "../../src/cli/dispatch.ts";
import type { Options } from "../../src/cli/parse-arguments.ts";
import { requireBuild } from "../built-package.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { testFolder } from "../support/cli.ts";
import { ModuleRunner } from "../support/module-runner.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { drawsAll } from "../support/samples.ts";
import { ramp, type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";
import { Shell, transcript } from "./shell.ts";

withoutPauses();

/** Mistakes of people who know what they want, by what it is about. */
const MISTAKES: Readonly<Record<string, readonly string[]>> = {
  labels: [
    "slice g.zarr/t --slice time=2031-06-01",
    "slice g.zarr/t --slice time=2000-13-01",
    "slice g.zarr/t --slice time=2000-01-02T06 --output t.npy",
    "slice g.zarr/old --slice date=2000-02-29",
    "slice g.zarr/t --slice lat=2000-01-01",
    "slice g.zarr/t --slice lat=60..70",
    "slice g.zarr/t --slice lat=40",
    "slice g.zarr/t --slice latt=40.0",
    "slice g.zarr/people --slice name=olso",
    "slice g.zarr/people --slice name=olso --nearest",
    "slice s.zarr/t --slice time:0:2",
    "slice s.zarr/t --slice time=45.0",
    "slice s.zarr/t --slice 0x1",
    "slice s.zarr/t --slice time=1.0:2.0",
    "slice s.zarr/t --slice time=1.25",
    "slice s.zarr/t --slice time=6",
    "slice s.zarr/t --slice time=2:2",
    "slice s.zarr/t --slice x=2024-01-01",
    "slice months.zarr/time part.zarr --slice time=2001",
    "slice months.zarr part.zarr --slice time=2001-02",
  ],
  decode: [
    "slice g.zarr/people --decode --output people.raw",
    "slice g.zarr/badly --format csv",
    "slice g.zarr/undated --format csv",
    "slice g.zarr/t --decode --no-decode",
    "slice g.zarr/t --decode=no",
    "slice g.zarr/people --format npy --decode",
    "slice g.zarr/date --decode",
    "slice g.zarr part.zarr --slice lat=0:1 --decode",
  ],
  formats: [
    "slice g.zarr/t --format parket",
    "slice g.zarr/t --output t.parq",
    "slice g.zarr/record --output record.parquet",
    "slice g.zarr --output all.npy",
    "slice g.zarr --include t --include people --output both.parquet",
    "slice g.zarr/t --output no/such/folder/t.csv",
    "slice g.zarr/t --format csv --flat",
    "slice g.zarr --format csv",
    "slice s.zarr/t --output f.npy.gz",
    "slice s.zarr/t --output f.npy --format json",
    "slice s.zarr/t --output f.csv --format raw",
    "slice s.zarr/t --output f.zarr",
    "slice s.zarr/t --output -",
    "slice s.zarr/t --output f.nc",
    "slice s.zarr/t f.npy",
    "slice s.zarr/t sub/f.JSON",
    "slice s.zarr/t f.nc",
    "slice s.zarr/t 0:1",
    "slice s.zarr/t time=0:1,x=3",
    "slice s.zarr/t 5",
    "slice s.zarr/t 45.0:50.0",
    "slice s.zarr/t time=2020-01-01",
    "slice s.zarr/t time:0:1",
    "slice s.zarr/t --to v3",
    "copy s.zarr f.npy",
    "rechunk s.zarr f.npy --chunks time=1",
    "convert s.zarr f.npy --to v3",
  ],
  include: [
    "slice g.zarr part.zarr --slice time=0:2 --include T",
    "slice g.zarr/t --include lat --format csv",
    "slice g.zarr part.zarr --slice altitude=0",
    "slice g.zarr/t --slice time=0 --alone",
  ],
  chunks: [
    "rechunk g.zarr out.zarr --chunks 100XB",
    "rechunk g.zarr out.zarr --chunks tiem=auto",
    "rechunk g.zarr out.zarr --chunks time=automatic",
    "rechunk g.zarr out.zarr --chunks time=1MB",
    "rechunk g.zarr out.zarr --chunks s*:time=-1",
    "rechunk g.zarr out.zarr --chunks time=-2",
    "rechunk g.zarr out.zarr --chunks time=-1,name=2",
    "rechunk g.zarr out.zarr --chunks time=1 --match some",
    "rechunk s.zarr out.zarr --chunks time:-1",
    "copy s.zarr out.zarr --chunks time:-1",
    "slice s.zarr out.zarr --chunks time:-1",
    "rechunk s.zarr out.zarr --chunks time:-1,x:4",
    "rechunk s.zarr out.zarr --chunks x:4",
    "rechunk s.zarr out.zarr --chunks t:time:4",
    "rechunk s.zarr/t out.zarr --chunks time:-1",
    "rechunk s.zarr/t out.zarr --chunks t:time=-1",
    "rechunk s.zarr out.zarr --chunks time=2",
    "rechunk s.zarr out.zarr --chunks t:time=2",
    "rechunk s.zarr/t out.zarr --chunks 2,10",
    "rechunk s.zarr/t out.zarr --chunks z=2",
    "rechunk s.zarr out.zarr --chunks time=2,time=3",
    "rechunk s.zarr out.zarr --chunks time=2.0",
    "rechunk s.zarr out.zarr --chunks time=0x2",
    "copy s.zarr out.zarr --shards none",
  ],
  view: [
    "view notes.txt",
    "view g.zarr/tt",
    "view g.zarr --port BUSY",
    "view g.zarr/people",
    "view g.zarr h.zarr",
    "view g.zarr --host 0.0.0.0",
    "view empty.zarr",
  ],
  serve: [
    "serve notes.txt",
    "serve g.zarr --port BUSY",
    "serve g.zarr --host 203.0.113.7",
    "serve g.zarr --slice time=2031-06-01",
    "serve g.zarr --to v4",
    "serve g.zarr out.zarr",
    "serve g.zarr/t --chunks 1,2,3",
    "serve s.zarr/t --chunks -1,-1 --max-mem 1kB",
  ],
  pyramid: [
    "pyramid g.zarr p.zarr --factor 1",
    "pyramid g.zarr p.zarr --factor lat=2.5",
    "pyramid g.zarr p.zarr --method average",
    "pyramid g.zarr p.zarr --levels 0",
    "pyramid g.zarr p.zarr --levels many",
    "pyramid g.zarr/people p.zarr --axes x --levels 2",
    "pyramid g.zarr/t p.zarr --axes lat,time",
    "pyramid plain.zarr p.zarr",
    "pyramid g.zarr p.npy",
  ],
  append: [
    "append g.zarr/t other-type.zarr --dim time",
    "append g.zarr/t wide.zarr --dim time",
    "append g.zarr g-copy.zarr --dim time",
    "append g.zarr/t g-copy.zarr/t --dim tiem",
    "append g.zarr/t g-copy.zarr/t --dim 2",
    "append g.zarr g.zarr --dim time",
    "append g.zarr g-copy.zarr --dim lat",
    "append g.zarr new.zarr --dim time",
  ],
  effects: [
    "copy g.zarr out.zarr --shards time=6",
    "copy g.zarr out.zarr --match any",
    "rechunk g.zarr/t out.zarr --chunks time=3 --match any",
    "copy g.zarr out.zarr --alone",
    "copy g.zarr/t out.zarr --alone",
    "copy g.zarr out.zarr --allow-loss /attributes/x",
    "convert g.zarr out.zarr --to v3 --allow-loss attributes/x",
    "copy g.zarr out.zarr --explain",
    "copy g.zarr out.zarr --dry-run --trace run.jsonl",
    "copy g.zarr out.zarr --update --if-exists skip",
    "slice g.zarr/t out.zarr --strict",
    "slice g.zarr/t --nearest",
    "slice g.zarr/t --slice time=0 --nearest",
    "slice g.zarr/t --if-exists replace",
    "slice g.zarr/t --resume --output t.npy",
    "slice g.zarr/t --tps 10 --output t.npy",
    "digest g.zarr --part 1/2",
    "digest g.zarr --tree --merge --io 4",
    "validate g.zarr --dry-run",
    "tree g.zarr --ascii --json",
    "plan copy g.zarr out.zarr --output plan.json --jobs 4",
    "plan copy g.zarr out.zarr --output plan.json --alone",
    "plan copy g.zarr out.zarr --simulate --script slurm",
    "serve g.zarr --nearest",
    "pyramid g.zarr out.zarr --axes yx --levels 2",
  ],
  globs: [
    "copy g.zarr out.zarr --include T",
    "copy g.zarr out.zarr --include t --include peple",
    "copy g.zarr out.zarr --include t,people",
    "copy g.zarr out.zarr --include ./people",
    "copy g.zarr out.zarr --include *.txt",
    "copy g.zarr out.zarr --include t --exclude t",
    "copy g.zarr/t out.zarr --include t",
    "slice g.zarr --include t --include peple --format csv",
  ],
  flags: [
    "convert g.zarr out.zarr --chunks time=3",
    "convert g.zarr out.zarr --to v3 --shards time=3",
    "copy g.zarr out.zarr --slice time=0",
    "copy g.zarr out.zarr --dim time",
    "copy g.zarr out.zarr --levels 3",
    "copy g.zarr --output out.zarr",
    "copy g.zarr -o out.zarr",
    "copy g.zarr out.zarr --overwrite",
    "copy g.zarr out.zarr -f",
    "copy g.zarr out.zarr --compressor zstd",
    "copy g.zarr out.zarr --workers 4",
    "copy g.zarr out.zarr --memory 4GB",
    "copy g.zarr out.zarr --format v3",
    "copy g.zarr out.zarr --zarr-format 3",
    "copy g.zarr out.zarr -r",
    "copy g.zarr out.zarr --chunk time=3",
    "copy g.zarr out.zarr --quite",
    "copy g.zarr out.zarr --wibble",
    "copy g.zarr out.zarr --dry-run true",
    "convert g.zarr out.zarr v3",
    "rechunk g.zarr out.zarr time=3",
    "validate g.zarr --strict",
    "validate g.zarr --repair",
    "tree -L 2 g.zarr",
    "append g.zarr g-copy.zarr --axis 0",
    "list g.zarr",
    "cat g.zarr/t",
    "sync g.zarr out.zarr",
    "version",
    "--quiet",
    "help nope",
    "ls g.zarr",
    "pyramid g.zarr p.zarr --to v1",
    "pyramid g.zarr p.zarr --to zarr2",
    "digest g.zarr --cells",
    "digest g.zarr --tree --part 3/2",
    "digest g.zarr s.zarr",
    "digest --tree --merge no.json",
    "digest g.zarr --tree --merge --part 1/2",
    "diff s.zarr/t s.zarr/t --max-mem 9B",
    "copy g.zarr out.zarr --report .",
  ],
  values: [
    "convert g.zarr out.zarr --to 0.5",
    "convert g.zarr out.zarr --to ome-zarr-0.4",
    "convert g.zarr out.zarr --to V3",
    "convert g.zarr out.zarr --to zarr3",
    "convert g.zarr out.zarr --to netcdf",
    "copy g.zarr out.zarr --to=",
    "copy g.zarr out.zarr --verify=",
    "copy g.zarr out.zarr --max-mem 64",
    "copy g.zarr out.zarr --max-mem 0",
    "copy g.zarr out.zarr --bwlimit 10",
    "copy g.zarr out.zarr --max-metadata 128",
    "copy g.zarr out.zarr --threads 0",
    "copy g.zarr out.zarr --io 0",
    "copy g.zarr out.zarr --tps 0.5",
    "copy g.zarr out.zarr --chunks time=1e3",
    "copy g.zarr out.zarr --chunks time=",
    "copy g.zarr out.zarr --to v3 --to v2",
    "copy g.zarr -",
    "copy new.zarr g.zarr",
    "copy g.zarr out.txt",
    "copy g.zarr g.zarr/out.zarr",
    "plan copy g.zarr out.zarr --output -",
    "view g.zarr --port 99999",
    "copy g.zarr out.zarr --dtype u:int8",
    "copy g.zarr out.zarr --pack int16,x",
    "copy g.zarr out.zarr --overflow clamp",
    "copy g.zarr out.zarr --map none.mjs",
  ],
  codecs: [
    "copy g.zarr out.zarr --codec zstd:23",
    "copy g.zarr out.zarr --codec gzip:10",
    "copy g.zarr out.zarr --codec lz4:0",
    "copy g.zarr out.zarr --codec blosc:lz5",
    "copy g.zarr out.zarr --codec blosc:lz4:5:shufle",
    "copy g.zarr out.zarr --codec zstd:max",
    "copy g.zarr out.zarr --codec zstd:",
    "copy g.zarr out.zarr --codec zstd-3",
    'copy g.zarr out.zarr --codec {"id":"zstd","level":99}',
    'copy g.zarr out.zarr --codec {"id":"blosc","cname":"lz5","clevel":5,"shuffle":1}',
  ],
  reports: [
    "info g.zarr/peeple",
    "info notes.txt",
    "validate g.zarr/time/0",
    "tree g.zarr/t/x",
    "copy g.zarr out.zarr --report out.pdf",
    "copy g.zarr out.zarr --report no/such/folder/out.html",
    "help piramid",
  ],
  places: [
    "info g.zarr/no-such/deeper",
    "info ./g.zarr/T/",
    "info g.zar.zip",
    "info x",
    "tree notes.txt",
    "copy elsewhere out.zarr",
    "copy elsewhere folder",
    "copy g.zar out.zarr",
    "copy g.zar g-copy.zarr",
    "copy elsewhere s3://bucket/x.zarr",
    "copy elsewhere http://127.0.0.1:1/x.zarr",
    "tree http://127.0.0.1:1/x.zarr",
    "tree s3://ab/x.zarr",
    "info refs.parq",
    "copy a.nc out.zarr",
    "tree b.nc",
    "convert no-extension out.zarr --to v3",
    "info c.grib2",
    "tree d.tif",
    "convert e.tif out.zarr --to v3",
    "info g.tar",
    "tree h.zarr.tar.gz",
    "convert i.json out.zarr --to v3",
    "info j.json",
    "tree n5",
    "convert ice1 out.zarr --to v3",
    "info ice2",
  ],
  files: [
    "copy s.zarr out.zarr --trace out.zarr",
    "copy s.zarr out.zarr --trace s.zarr/run.jsonl",
    "copy s.zarr out.zarr.zip --report out.zarr.zip",
    "copy s.zarr out.zarr --report ./out.zarr/r.html",
    "copy s.zarr out.zarr --trace r.html --report ./r.html",
    "copy s.zarr out.zarr --dry-run --report s.zarr/r.html",
    "slice s.zarr/t --slice 0 --output s.zarr/t/x.npy",
    "plan copy s.zarr out.zarr --codec zstd --output out.zarr/p.json",
    "copy s.zarr out.zarr --trace none/run.jsonl",
  ],
};

/** Files of other formats, and folders that are no Zarr, by how they begin. */
const OTHERS: Readonly<Record<string, string>> = {
  "a.nc": "\x89HDF\r\n\x1a\n\0\0\0\0",
  "b.nc": "CDF\x01\0\0\0\0",
  "no-extension": "CDF\x05\0\0\0\0",
  "c.grib2": "GRIB\0\0\0\x02",
  "d.tif": "II*\0\x08\0\0\0",
  "e.tif": "MM\0*\0\0\0\x08",
  "g.tar": `zarr.json${"\0".repeat(248)}ustar`,
  "h.zarr.tar.gz": "\x1f\x8b\x08\0",
  "i.json": '{"version": 1, "refs": {".zgroup": "{}"}}',
  "j.json": '{".zgroup": "{}"}',
  "n5/attributes.json": '{"n5": "2.5.0"}',
  "ice1/refs/branch.main/ref.json": '{"snapshot": "VY76P925PRY57WFEK410"}',
  "ice2/repo": "ICE\xf0\x9f\xa7\x8aCHUNK",
  "refs.parq/.zmetadata": '{"metadata": {".zgroup": {"zarr_format": 2}}, "record_size": 10000}',
  "notes.txt": "GRIN and bear it",
  "folder/notes.txt": "",
  "x/y/.zarrflow-0123456789ab-1": "",
};

describe("mistakes", () => {
  const folder = temporaryFolder();
  const other = createServer();
  let [shell, port] = [new Shell(""), 0];

  beforeAll(async () => {
    shell = new Shell(folder.path);
    await writeSamples(shell);
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    port = (other.address() as AddressInfo).port;
  });
  afterAll(() => void other.close());

  it.each(Object.entries(MISTAKES))(
    "with %s have answers that show the way out, and do nothing",
    async (about, lines) => {
      const before = await shell.names("", true);
      const run = async (line: string) => {
        const { code, stdout, stderr } = await shell.run(line.replace("BUSY", `${port}`));
        expect.soft({ line, stdout }).toEqual({ line, stdout: "" });
        expect.soft(code, line).not.toBe(0);
        return { code, stdout, stderr };
      };
      const approved = await transcript(lines, run, { [shell.cwd]: "DIR", [`port ${port}`]: "port BUSY" });
      expect.soft(await shell.names("", true)).toEqual(before);
      expect(approved).not.toMatch(/^ {4}at /m);
      await expect(approved).toMatchFileSnapshot(`approved/mistakes/${about}.txt`);
    },
  );

  it("with a folder in which there is one that cannot be read", async () => {
    requireBuild();
    await mkdir(shell.at("locked/y"), { recursive: true });
    await chmod(shell.cwd, 0o755);
    await chmod(shell.at("locked/y"), 0);
    const runner = ModuleRunner.ofNobody();
    try {
      for (const command of ["info", "tree", "validate"]) {
        const { code, stderr } = await runner.zarrflow([command, "locked"], shell.cwd);
        expect({ code, stderr }).toMatchObject({
          code: 3,
          stderr: /^zarrflow: no array or group at `locked` /,
        });
      }
    } finally {
      await runner.end();
      await chmod(shell.at("locked/y"), 0o755);
    }
  });
});

/** A dataset with odd arrays in it, `g.zarr`, one of numbers alone, `s.zarr`, and what is nearly like them. */
async function writeSamples(shell: Shell): Promise<void> {
  const array = (
    shape: readonly number[],
    dtype: unknown,
    items: V2Array["items"] = ramp(shape[0] ?? 0),
  ): V2Array => ({
    ...{ shape, chunks: shape, dtype, items },
  });
  const text = (...items: string[]) => ({ ...array([4], "|O", items), dimensions: ["name"] });
  const [time, lat, units] = [["time"], ["lat"], "days since 2000-01-01"];
  const t = { ...array([6, 4], "<f4", ramp(24)), dimensions: ["time", "lat"] };
  const days = (...items: number[]) => array([6], "<i4", Int32Array.from(items));
  const fields = [
    ["a", "<f4"],
    ["b", "<i4"],
  ];
  await writeV2Group(shell.at("g.zarr"), {
    t,
    time: { ...days(0, 1, 2, 3, 4, 5), dimensions: time, attributes: { units } },
    lat: { ...array([4], "<f4", Float32Array.of(50, 40, 30, 20)), dimensions: lat },
    name: text("oslo", "rome", "bern", "lima"),
    people: text("a", "b", "c", "d"),
    old: { ...array([6], "<f4"), dimensions: ["date"] },
    date: {
      ...days(56, 57, 58, 59, 60, 61),
      dimensions: ["date"],
      attributes: { units, calendar: "noleap" },
    },
    badly: { ...array([6], "<i2", new Int16Array(6)), dimensions: time, attributes: { scale_factor: "big" } },
    undated: { ...days(0, 0, 0, 0, 0, 0), dimensions: time, attributes: { units: "days since yesterday" } },
    record: { ...array([4], fields, ramp(8)), dimensions: lat },
  });
  await cp(shell.at("g.zarr"), shell.at("g-copy.zarr"), { recursive: true });
  const grid = { shape: [6, 10], dimensions: ["time", "x"] };
  await writeV2Group(shell.at("s.zarr"), {
    t: { ...grid, chunks: [2, 10] },
    u: { ...grid, chunks: [2, 5] },
    time: { shape: [6], chunks: [3], dimensions: time },
  });
  const months = {
    ...days(1, 2, 3, 4, 5, 6),
    dimensions: time,
    attributes: { units: "months since 2000-01-01" },
  };
  await writeV2Group(shell.at("months.zarr"), { time: months });
  await writeV2Array(shell.at("other-type.zarr"), { ...t, dtype: "<f8", items: new Float64Array(24) });
  await writeV2Array(shell.at("wide.zarr"), { ...t, ...array([6, 8], "<f4", ramp(48)) });
  await writeV2Group(shell.at("plain.zarr"), { a: array([8, 8], "<f4", ramp(64)) });
  await writeV2Group(shell.at("empty.zarr"), {});
  for (const [name, start] of Object.entries(OTHERS)) {
    await mkdir(dirname(shell.at(name)), { recursive: true });
    await writeFile(shell.at(name), Buffer.from(start, "latin1"));
  }
}

/** Values of flags that take any. */
const VALUES: Readonly<Record<string, string>> = {
  ...{
    "allow-loss": "/attributes/a",
    "array-names": "a",
    attributes: "a.json",
    bwlimit: "1MB",
    chunks: "time=1",
  },
  ...{ codec: "zstd", "max-metadata": "1MB", "max-mem": "64MB", header: "x-key: 1", concurrency: "4" },
  ...{ shards: "time=4", "store-profile": "30ms", threads: "1", "max-requests-per-second": "9" },
};

/** Each command with what it needs. */
const LINES: readonly string[] = [
  ...["info", "tree", "view", "serve", "digest", "validate", "clean"].map((name) => `${name} nope.zarr`),
  ...["copy", "slice", "pyramid", "diff"].map((name) => `${name} nope.zarr new.zarr`),
  "rechunk nope.zarr new.zarr --chunks time=1",
  "convert nope.zarr new.zarr --to v3",
  "append nope.zarr new.zarr --dim time",
  "slice nope.zarr",
  "plan copy nope.zarr new.zarr --output plan.json",
];

it.each(LINES.map((line, i) => [line, i] as const))(
  "flags of %s are options that the library knows",
  async (line, i) => {
    const folder = new Shell(await testFolder());
    const [name = "", ...given] = line.split(" ");
    const options: Options = (await loadCommand(name)).options;
    const words = (of: string): string[] => {
      const { type, choices, bare } = options[of] ?? { type: "boolean" };
      if (given.includes(`--${of}`)) return [];
      if (type === "boolean") return [`--${of}`];
      const value = choices?.[0] ?? VALUES[of] ?? "1";
      return bare === undefined ? [`--${of}`, value] : [`--${of}=${value}`];
    };
    for (const [k, [one, { effect }]] of Object.entries(options).entries()) {
      // commands share most of their flags
      if (one === "help" || (!drawsAll && (i + k) % 3 > 0)) continue;
      const beside = effect?.with?.slice(0, 1) ?? [];
      const { stderr } = await folder.run(line, ...[one, ...beside].flatMap(words));
      expect(stderr, one).not.toMatch(/unknown option|this is a bug/);
    }
  },
);
