// @module-tag slow
import { cp, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { ramp, type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";

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
  ],
  decode: [
    "slice g.zarr/people --decode --output people.raw",
    "slice g.zarr/badly --format csv",
    "slice g.zarr/undated --format csv",
    "slice g.zarr/t --decode --no-decode",
    "slice g.zarr/t --decode=no",
  ],
  formats: [
    "slice g.zarr/t --format parket",
    "slice g.zarr/t --output t.parq",
    "slice g.zarr/record --output record.parquet",
    "slice g.zarr --output all.npy",
    "slice g.zarr --include t --include people --output both.parquet",
    "slice g.zarr/t --output no/such/folder/t.csv",
    "slice g.zarr/t --format csv --flat",
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
  ],
  view: [
    "view notes.txt",
    "view g.zarr/tt",
    "view g.zarr --port BUSY",
    "view g.zarr/people",
    "view g.zarr h.zarr",
    "view g.zarr --host 0.0.0.0",
  ],
  serve: [
    "serve notes.txt",
    "serve g.zarr --port BUSY",
    "serve g.zarr --host 203.0.113.7",
    "serve g.zarr --slice time=2031-06-01",
    "serve g.zarr --to v4",
    "serve g.zarr out.zarr",
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
    "rechunk g.zarr out.zarr --chunks time=3 --shards time=6",
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
    "plan copy g.zarr out.zarr --output plan.json --workers 4",
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
    "rechunk g.zarr out.zarr --chunks time=3 --include peple",
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
    "copy g.zarr out.zarr --delete",
    "copy g.zarr out.zarr -r",
    "copy g.zarr out.zarr --no-verify",
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
  ],
  values: [
    "convert g.zarr out.zarr --to 0.5",
    "convert g.zarr out.zarr --to ome-zarr-0.4",
    "convert g.zarr out.zarr --to V3",
    "convert g.zarr out.zarr --to zarr3",
    "convert g.zarr out.zarr --to 3.0",
    "convert g.zarr out.zarr --to netcdf",
    "copy g.zarr out.zarr --to=",
    "copy g.zarr out.zarr --trace=",
    "copy g.zarr out.zarr --verify=",
    "copy g.zarr out.zarr --max-mem 64",
    "copy g.zarr out.zarr --max-mem 0",
    "copy g.zarr out.zarr --max-mem 50%",
    "copy g.zarr out.zarr --bwlimit 10",
    "copy g.zarr out.zarr --max-metadata 128",
    "copy g.zarr out.zarr --threads 0",
    "copy g.zarr out.zarr --io 0",
    "copy g.zarr out.zarr --tps 0.5",
    "copy g.zarr out.zarr --chunks time=0",
    "copy g.zarr out.zarr --chunks time=1e3",
    "copy g.zarr out.zarr --chunks time=",
    "copy g.zarr out.zarr --to v3 --to v2",
    "copy g.zarr -",
    "copy - out.zarr",
    "copy new.zarr g.zarr",
    "copy g.zarr out.txt",
    "copy g.zarr g.zarr/out.zarr",
    "plan copy g.zarr out.zarr --output -",
    "view g.zarr --port 99999",
  ],
  codecs: [
    "copy g.zarr out.zarr --codec zstd:23",
    "copy g.zarr out.zarr --codec gzip:10",
    "copy g.zarr out.zarr --codec zlib:-2",
    "copy g.zarr out.zarr --codec bz2:0",
    "copy g.zarr out.zarr --codec lzma:12",
    "copy g.zarr out.zarr --codec lz4:0",
    "copy g.zarr out.zarr --codec blosc:lz4:10",
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
    "validate notes.txt",
    "validate g.zarr/time/0",
    "tree g.zarr/t/x",
    "copy g.zarr out.zarr --report out.pdf",
    "copy g.zarr out.zarr --report no/such/folder/out.html",
    "completion powershell",
    "completion bsh",
    "help piramid",
  ],
};

it.each(Object.keys(MISTAKES))("mistakes with %s have answers that show the way out", async (about) => {
  const cwd = await samples();
  const before = await readdir(cwd);
  const port = await busyPort();
  let transcript = "";
  for (const line of MISTAKES[about] ?? []) {
    const { code, stdout, stderr } = await runHere(cwd, ...line.replace("BUSY", `${port}`).split(" "));
    expect.soft({ line, stdout }).toEqual({ line, stdout: "" });
    expect.soft(code, line).not.toBe(0);
    transcript += `$ zarrflow ${line}\n${stderr}[exit ${code}]\n\n`;
  }
  expect.soft(await readdir(cwd)).toEqual(before);
  expect(transcript).not.toMatch(/^ {4}at /m);
  const approved = transcript.replaceAll(`${port}`, "BUSY").replaceAll(cwd, "DIR");
  await expect(approved).toMatchFileSnapshot(`approved/mistakes/${about}.txt`);
});

/** A data set with odd arrays in it, `g.zarr`, and what is nearly like it. */
async function samples(): Promise<string> {
  const cwd = await testFolder();
  const [time, lat, name] = [["time"], ["lat"], ["name"]];
  const t = { ...array([6, 4], "<f4", ramp(24)), dimensions: ["time", "lat"] };
  const units = "days since 2000-01-01";
  const dates = array([6], "<i4", Int32Array.of(56, 57, 58, 59, 60, 61));
  await writeV2Group(join(cwd, "g.zarr"), {
    t,
    time: { ...array([6], "<i4", Int32Array.of(0, 1, 2, 3, 4, 5)), dimensions: time, attributes: { units } },
    lat: { ...array([4], "<f4", Float32Array.of(50, 40, 30, 20)), dimensions: lat },
    name: { ...array([4], "|O", ["oslo", "rome", "bern", "lima"]), dimensions: name },
    people: { ...array([4], "|O", ["a", "b", "c", "d"]), dimensions: name },
    old: { ...array([6], "<f4", ramp(6)), dimensions: ["date"] },
    date: { ...dates, dimensions: ["date"], attributes: { units, calendar: "noleap" } },
    badly: { ...array([6], "<i2", new Int16Array(6)), dimensions: time, attributes: { scale_factor: "big" } },
    undated: {
      ...array([6], "<i4", new Int32Array(6)),
      dimensions: time,
      attributes: { units: "days since yesterday" },
    },
    record: {
      ...array(
        [4],
        [
          ["a", "<f4"],
          ["b", "<i4"],
        ],
        ramp(8),
      ),
      dimensions: lat,
    },
  });
  await cp(join(cwd, "g.zarr"), join(cwd, "g-copy.zarr"), { recursive: true });
  await writeV2Array(join(cwd, "other-type.zarr"), { ...t, dtype: "<f8", items: new Float64Array(24) });
  await writeV2Array(join(cwd, "wide.zarr"), { ...t, ...array([6, 8], "<f4", ramp(48)) });
  await writeV2Group(join(cwd, "plain.zarr"), { a: array([8, 8], "<f4", ramp(64)) });
  await writeFile(join(cwd, "notes.txt"), "not an array");
  return cwd;
}

/** An array of one chunk. */
function array(shape: readonly number[], dtype: unknown, items: V2Array["items"]): V2Array {
  return { shape, chunks: shape, dtype, items };
}

/** A port at which another program listens. */
async function busyPort(): Promise<number> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  return (other.address() as AddressInfo).port;
}
