// @module-tag slow
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { dist, requireBuild } from "../built-package.ts";
import type { Run } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { ramp, writeV2Group } from "../support/v2-store.ts";

const execute = promisify(execFile);

/** What a new user types, chapter by chapter, mistakes among it: the first is that of the installed package. */
const chapters: Readonly<Record<string, readonly string[]>> = {
  look: [
    "zarrflow --version",
    "zarrflow",
    "zarrflow help tree",
    "zarrflow inof era5.zarr",
    "zarrflow info era5.zar",
    "zarrflow info era5.zarr",
    "zarrflow info era5.zarr/t2n",
    "zarrflow info era5.zarr/t2m --json",
    "zarrflow tree era5.zarr",
    "zarrflow tree era5.zarr --asci",
    "zarrflow tree",
  ],
  slice: [
    "zarrflow slice era5.zarr/t2m --slice time=0,latitude=0:2 --format json",
    "zarrflow slice era5.zarr/t2m --slice tiem=0",
    "zarrflow slice era5.zarr/t2m --slice time=99",
    "zarrflow slice era5.zarr/t2m --slice time=0,longitude=0,latitude=1.5..3 --format json",
    "zarrflow slice era5.zarr/t2m --slice latitude=1.4 --format json",
    "zarrflow slice era5.zarr/t2m --slice time=0,longitude=0,latitude=1.4 --nearest --format json",
    "zarrflow slice era5.zarr/t2m --slice latitude=45..50",
    "zarrflow slice era5.zarr/t2m --slice time=2024-01-01",
    "zarrflow slice era5.zarr/t2m --format jsn",
    "zarrflow slice era5.zarr",
    "zarrflow slice era5.zarr/t2m --slice time=0:24 --format npy --output day.npy",
    "zarrflow slice era5.zarr/t2m --slice time=0:24 --format npy --output day.npy",
    "zarrflow slice era5.zarr/t2m day.zarr --slice time=0:24",
    "zarrflow tree day.zarr",
  ],
  rechunk: [
    "zarrflow rechunk era5.zarr series.zarr",
    "zarrflow rechunk era5.zarr series.zarr --chunks tiem=-1",
    "zarrflow rechunk era5.zarr series.zarr --chunks time=-1,latitude=0",
    "zarrflow rechunk era5.zarr series.zarr --chunks time=-1,latitude=3 --max-mem 1kB",
    "zarrflow rechunk era5.zarr series.zarr --chunks time=-1,latitude=3 --codec zstdd",
    "zarrflow rechunk era5.zarr series.zarr --chunks time=-1,latitude=3 --codec zstd:5 --verify",
    "zarrflow rechunk era5.zarr series.zarr --chunks time=-1,latitude=3",
    "zarrflow info series.zarr/t2m",
    "zarrflow diff era5.zarr series.zarr",
  ],
  copy: [
    "zarrflow copy era5.zarr",
    "zarrflow copy era5.zarr era5.zarr/inside",
    "zarrflow copy era5.zarr era5.zarr.zip --verify",
    "zarrflow copy era5.zarr era5.zarr.zip --if-exits skip",
    "zarrflow copy era5.zarr era5.zarr.zip --if-exists skip",
    "zarrflow copy era5.zarr era5.zarr.zip",
    "zarrflow info era5.zarr.zip/tt2m",
    "zarrflow digest era5.zarr",
    "zarrflow digest era5.zarr.zip",
    "zarrflow convert era5.zarr.zip era5.v3.zarr --to v4",
    "zarrflow convert era5.zarr.zip era5.v3.zarr --to v3",
    "zarrflow diff era5.zarr era5.v3.zarr",
    "zarrflow validate era5.v3.zarr --deep",
  ],
  append: [
    "zarrflow slice era5.zarr early.zarr --slice time=0:30",
    "zarrflow slice era5.zarr late.zarr --slice time=30:48",
    "zarrflow slice era5.zarr north.zarr --slice time=30:48,latitude=0:3",
    "zarrflow append late.zarr early.zarr",
    "zarrflow append late.zarr earlier.zarr --dim time",
    "zarrflow append late.zarr early.zarr --dim tiem",
    "zarrflow append early.zarr late.zarr --dim time",
    "zarrflow append late.zarr/t2m early.zarr --dim time",
    "zarrflow append late.zarr era5.zarr.zip --dim time",
    "zarrflow append north.zarr early.zarr --dim time",
    "zarrflow append late.zarr early.zarr --dim time --dry-run",
    "zarrflow append late.zarr early.zarr --dim time",
    "zarrflow append late.zarr early.zarr --dim time",
    "zarrflow diff early.zarr era5.zarr",
  ],
  pyramid: [
    "zarrflow pyramid era5.zarr/t2m image.zarr",
    "zarrflow pyramid era5.zarr/t2m image.zarr --axes txy --factor t=2",
    "zarrflow pyramid era5.zarr maps.zarr --method median",
    "zarrflow pyramid era5.zarr maps.zarr",
    "zarrflow pyramid era5.zarr maps.zarr --levels 3 --factor lattitude=2",
    "zarrflow pyramid era5.zarr era5.zarr/maps --levels 3",
    "zarrflow pyramid era5.zarr maps.zarr --levels 3 --max-mem 2kB",
    "zarrflow pyramid era5.zarr maps.zarr --levels 3 --dry-run",
    "zarrflow pyramid era5.zarr maps.zarr --levels 3",
    "zarrflow pyramid era5.zarr maps.zarr --levels 3",
    "zarrflow tree maps.zarr",
  ],
  tables: [
    "zarrflow slice era5.zarr/t2m --slice time=0,longitude=0 --format csv",
    "zarrflow slice era5.zarr/t2m --slice time=0,longitude=0 --format raw --flags",
    "zarrflow slice era5.zarr/t2m --slice time=0 --decod --format csv",
    "zarrflow slice era5.zarr/t2m --slice time=0 --output day.xlsx",
    "zarrflow slice era5.zarr/t2m --slice time=0..2024-01-01 --format csv",
    "zarrflow slice era5.zarr/t2m --slice latitude=north --format csv",
    "zarrflow slice era5.zarr/t2m out.zarr --format csv",
    "zarrflow slice era5.zarr out.zarr --slice time=0:3 --include t3m",
  ],
  serve: [
    "zarrflow serve",
    "zarrflow serve era5.zar",
    "zarrflow serve era5.zarr --port 99999",
    "zarrflow serve era5.zarr --chunks tiem=-1",
    "zarrflow serve era5.zarr --chunks lots",
    "zarrflow serve era5.zarr --chunks t3m:time=-1",
    "zarrflow view era5.zarr --port http",
    "zarrflow completion names era5.zarr/t",
    "zarrflow completion tcsh",
  ],
};

describe("a new user's first quarter of an hour", () => {
  let project = "";
  let version = "";

  beforeAll(async () => {
    vi.stubEnv("LC_ALL", "C.UTF-8");
    requireBuild();
    project = await mkdtemp(join(tmpdir(), "zarrflow-user-"));
    const packed = ["pack", "--ignore-scripts", "--json", "--pack-destination", project];
    const { stdout } = await execute("npm", packed, { cwd: dirname(dist) });
    const [{ filename, version: packedVersion }] = JSON.parse(stdout);
    version = packedVersion;
    await writeFile(join(project, "package.json"), '{ "private": true }');
    const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    await execute("npm", ["install", ...flags, `./${filename}`], { cwd: project });
    await rm(join(project, filename));
    await writeData(join(project, "era5.zarr"));
  }, 300_000);

  afterAll(() => {
    vi.unstubAllEnvs();
    return rm(project, { recursive: true, force: true });
  });

  it.each(Object.keys(chapters))("%s", async (chapter) => {
    let transcript = "";
    for (const line of chapters[chapter] ?? []) {
      const run = chapter === "look" ? installed : runHere;
      const [, ...words] = line.split(" ");
      const { code, stdout, stderr } = await run(project, ...words);
      transcript += `$ ${line}\n${stdout}${stderr}${code === 0 ? "" : `[exit ${code}]\n`}\n`;
    }
    const approved = normalised(transcript, { project, version });
    await expect(approved).toMatchFileSnapshot(`approved/${chapter}.txt`);
  });

  it("leaves what was asked for, and nothing else", async () => {
    const parts = ["early.zarr", "late.zarr", "north.zarr", "maps.zarr"];
    const copies = ["day.npy", "day.zarr", "era5.v3.zarr", "era5.zarr.zip", "series.zarr"];
    const asked = ["era5.zarr", ...copies, ...parts];
    const own = ["node_modules", "package-lock.json", "package.json"];
    expect((await readdir(project)).sort()).toEqual([...asked, ...own].sort());
  });
});

async function writeData(folder: string): Promise<void> {
  const [time, latitude, longitude] = [48, 6, 5];
  const axis = (name: string, length: number, items: ArrayBufferView, dtype: string) => ({
    [name]: { shape: [length], chunks: [length], dtype, items, dimensions: [name] },
  });
  const t2m = {
    shape: [time, latitude, longitude],
    chunks: [12, latitude, longitude],
    dtype: "<f4",
    items: ramp(time * latitude * longitude).map((i) => 270 + i / 64),
    dimensions: ["time", "latitude", "longitude"],
    attributes: { units: "K", long_name: "2 metre temperature" },
    fillValue: "NaN",
  };
  await writeV2Group(
    folder,
    {
      t2m,
      ...axis(
        "time",
        time,
        Int32Array.from({ length: time }, (_, i) => i),
        "<i4",
      ),
      ...axis("latitude", latitude, ramp(latitude), "<f4"),
      ...axis("longitude", longitude, ramp(longitude), "<f4"),
    },
    { title: "a little of ERA5" },
  );
}

/** The command that was installed, in a process of its own: what starts none costs a tenth. */
async function installed(cwd: string, ...words: readonly string[]): Promise<Omit<Run, "bytes">> {
  const env = { ...process.env, NO_COLOR: "1" };
  return execute(join(cwd, "node_modules/.bin/zarrflow"), words, { cwd, env }).then(
    (said) => ({ ...said, code: 0 }),
    (failed: Run) => failed,
  );
}

/** What is the same on every machine: without places, versions, times and sizes. */
function normalised(text: string, { project, version }: { project: string; version: string }): string {
  return text
    .replaceAll(project, "DIR")
    .replaceAll(version, "VERSION")
    .replace(/\b\d+(?:\.\d+)? [kMG]?B\b/g, "SIZE")
    .replace(/\b\d+ bytes\b/g, "N bytes")
    .replace(/\bin \d+(?:\.\d+)? s\b/g, "in TIME")
    .replace(/"(storedBytes|logicalBytes|ratio)":[\d.]+/g, '"$1":N')
    .replace(/ratio [\d.]+/g, "ratio N");
}
