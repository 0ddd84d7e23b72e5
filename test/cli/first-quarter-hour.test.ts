// @module-tag slow
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { dist, requireBuild } from "../built-package.ts";
import type { Run } from "../support/cli.ts";
import { ramp, writeV2Group } from "../support/v2-store.ts";
import { Shell, transcript } from "./shell.ts";

const execute = promisify(execFile);

/** What a new user types, chapter by chapter, mistakes among it: the first is that of the installed package. */
const CHAPTERS: Readonly<Record<string, readonly string[]>> = {
  look: [
    "--version",
    "",
    "help tree",
    "inof era5.zarr",
    "info era5.zar",
    "info era5.zarr",
    "info era5.zarr/t2n",
    "info era5.zarr/t2m --json",
    "tree era5.zarr",
    "tree era5.zarr --asci",
    "tree",
  ],
  slice: [
    "slice era5.zarr/t2m --slice time=0,latitude=0:2 --format json",
    "slice era5.zarr/t2m --slice tiem=0",
    "slice era5.zarr/t2m --slice time=99",
    "slice era5.zarr/t2m --slice time=0,longitude=0,latitude=1.5..3 --format json",
    "slice era5.zarr/t2m --slice latitude=1.4 --format json",
    "slice era5.zarr/t2m --slice time=0,longitude=0,latitude=1.4 --nearest --format json",
    "slice era5.zarr/t2m --slice latitude=45..50",
    "slice era5.zarr/t2m --slice time=2024-01-01",
    "slice era5.zarr/t2m --format jsn",
    "slice era5.zarr",
    "slice era5.zarr/t2m --slice time=0:24 --format npy --output day.npy",
    "slice era5.zarr/t2m --slice time=0:24 --format npy --output day.npy",
    "slice era5.zarr/t2m day.zarr --slice time=0:24",
    "tree day.zarr",
  ],
  rechunk: [
    "rechunk era5.zarr series.zarr",
    "rechunk era5.zarr series.zarr --chunks tiem=-1",
    "rechunk era5.zarr series.zarr --chunks time=-1,latitude=0",
    "rechunk era5.zarr series.zarr --chunks time=-1,latitude=3 --max-mem 1kB",
    "rechunk era5.zarr series.zarr --chunks time=-1,latitude=3 --codec zstdd",
    "rechunk era5.zarr series.zarr --chunks time=-1,latitude=3 --codec zstd:5 --verify",
    "rechunk era5.zarr series.zarr --chunks time=-1,latitude=3",
    "info series.zarr/t2m",
    "diff era5.zarr series.zarr",
  ],
  copy: [
    "copy era5.zarr",
    "copy era5.zarr era5.zarr/inside",
    "copy era5.zarr era5.zarr.zip --verify",
    "copy era5.zarr era5.zarr.zip --if-exits skip",
    "copy era5.zarr era5.zarr.zip --if-exists skip",
    "copy era5.zarr era5.zarr.zip",
    "info era5.zarr.zip/tt2m",
    "digest era5.zarr",
    "digest era5.zarr.zip",
    "convert era5.zarr.zip era5.v3.zarr --to v4",
    "convert era5.zarr.zip era5.v3.zarr --to v3",
    "diff era5.zarr era5.v3.zarr",
    "validate era5.v3.zarr --deep",
  ],
  append: [
    "slice era5.zarr early.zarr --slice time=0:30",
    "slice era5.zarr late.zarr --slice time=30:48",
    "slice era5.zarr north.zarr --slice time=30:48,latitude=0:3",
    "append late.zarr early.zarr",
    "append late.zarr earlier.zarr --dim time",
    "append late.zarr early.zarr --dim tiem",
    "append early.zarr late.zarr --dim time",
    "append late.zarr/t2m early.zarr --dim time",
    "append late.zarr era5.zarr.zip --dim time",
    "append north.zarr early.zarr --dim time",
    "append late.zarr early.zarr --dim time --dry-run",
    "append late.zarr early.zarr --dim time",
    "append late.zarr early.zarr --dim time",
    "diff early.zarr era5.zarr",
  ],
  pyramid: [
    "pyramid era5.zarr/t2m image.zarr",
    "pyramid era5.zarr/t2m image.zarr --axes txy --factor t=2",
    "pyramid era5.zarr maps.zarr --method median",
    "pyramid era5.zarr maps.zarr",
    "pyramid era5.zarr maps.zarr --levels 3 --factor lattitude=2",
    "pyramid era5.zarr era5.zarr/maps --levels 3",
    "pyramid era5.zarr maps.zarr --levels 3 --max-mem 2kB",
    "pyramid era5.zarr maps.zarr --levels 3 --dry-run",
    "pyramid era5.zarr maps.zarr --levels 3",
    "pyramid era5.zarr maps.zarr --levels 3",
    "tree maps.zarr",
  ],
  tables: [
    "slice era5.zarr/t2m --slice time=0,longitude=0 --format csv",
    "slice era5.zarr/t2m --slice time=0,longitude=0 --format raw --flags",
    "slice era5.zarr/t2m --slice time=0 --decod --format csv",
    "slice era5.zarr/t2m --slice time=0 --output day.xlsx",
    "slice era5.zarr/t2m --slice time=0..2024-01-01 --format csv",
    "slice era5.zarr/t2m --slice latitude=north --format csv",
    "slice era5.zarr/t2m out.zarr --format csv",
    "slice era5.zarr out.zarr --slice time=0:3 --include t3m",
  ],
  serve: [
    "serve",
    "serve era5.zar",
    "serve era5.zarr --port 99999",
    "serve era5.zarr --chunks tiem=-1",
    "serve era5.zarr --chunks lots",
    "serve era5.zarr --chunks t3m:time=-1",
    "view era5.zarr --port http",
    "completion names era5.zarr/t",
    "completion tcsh",
  ],
};

describe("a new user's first quarter of an hour", () => {
  let [project, version] = ["", ""];

  beforeAll(async () => {
    vi.stubEnv("LC_ALL", "C.UTF-8");
    requireBuild();
    project = await mkdtemp(join(tmpdir(), "zarrflow-user-"));
    const packed = ["pack", "--ignore-scripts", "--json", "--pack-destination", project];
    const [pack] = JSON.parse((await execute("npm", packed, { cwd: dirname(dist) })).stdout);
    version = pack.version;
    await writeFile(join(project, "package.json"), '{ "private": true }');
    const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    await execute("npm", ["install", ...flags, `./${pack.filename}`], { cwd: project });
    await rm(join(project, pack.filename));
    const [time, latitude, longitude] = [48, 6, 5];
    const axis = (name: string, length: number) => ({ shape: [length], dimensions: [name] });
    const t2m = {
      ...{ shape: [time, latitude, longitude], chunks: [12, latitude, longitude], fillValue: "NaN" },
      items: ramp(time * latitude * longitude).map((i) => 270 + i / 64),
      dimensions: ["time", "latitude", "longitude"],
      attributes: { units: "K", long_name: "2 metre temperature" },
    };
    const axes = { latitude: axis("latitude", latitude), longitude: axis("longitude", longitude) };
    const times = {
      ...axis("time", time),
      dtype: "<i4",
      items: Int32Array.from({ length: time }, (_, i) => i),
    };
    await writeV2Group(
      join(project, "era5.zarr"),
      { t2m, time: times, ...axes },
      { title: "a little of ERA5" },
    );
  }, 300_000);

  afterAll(() => {
    vi.unstubAllEnvs();
    return rm(project, { recursive: true, force: true });
  });

  /** The command that was installed, in a process of its own: what starts none costs a tenth. */
  const installed = (line: string): Promise<Omit<Run, "bytes">> => {
    const options = { cwd: project, env: { ...process.env, NO_COLOR: "1" } };
    return execute(
      join(project, "node_modules/.bin/zarrflow"),
      line.split(" ").filter(Boolean),
      options,
    ).then(
      (said) => ({ ...said, code: 0 }),
      (failed: Run) => failed,
    );
  };

  it.each(Object.entries(CHAPTERS))("%s", async (chapter, lines) => {
    const run = chapter === "look" ? installed : (line: string) => new Shell(project).run(line);
    const approved = await transcript(lines, run, { [project]: "DIR", [version]: "VERSION" });
    await expect(approved).toMatchFileSnapshot(`approved/${chapter}.txt`);
  });

  it("leaves what was asked for, and nothing else", async () => {
    const parts = ["early.zarr", "late.zarr", "north.zarr", "maps.zarr"];
    const copies = ["day.npy", "day.zarr", "era5.v3.zarr", "era5.zarr.zip", "series.zarr"];
    const own = ["node_modules", "package-lock.json", "package.json"];
    expect(await new Shell(project).names()).toEqual(["era5.zarr", ...copies, ...parts, ...own].sort());
  });
});
