// @module-tag slow
// @module-tag process
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
