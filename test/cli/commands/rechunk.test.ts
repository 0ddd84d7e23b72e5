// @module-tag slow
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { writeV2Group } from "../../support/v2-store.ts";

async function group(): Promise<string> {
  const cwd = await testFolder();
  await writeV2Group(join(cwd, "g.zarr"), {
    t: { shape: [6, 10], chunks: [1, 10], dimensions: ["time", "x"] },
    u: { shape: [6, 10], chunks: [2, 10], dimensions: ["time", "x"] },
    x: { shape: [10], dimensions: ["x"] },
  });
  return cwd;
}

const chunksOf = async (cwd: string, path: string) =>
  JSON.parse(await readFile(join(cwd, path, ".zarray"), "utf8")).chunks;

describe("zarrflow rechunk", () => {
  it("rechunks the arrays that have the dimensions, and keeps all values", async () => {
    const cwd = await group();
    const args = ["g.zarr", "h.zarr", "--chunks", "time=-1,x=4", "--chunks", "u:6,1", "--verify"];
    const { code, stdout, stderr } = await runHere(cwd, "rechunk", ...args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("read back and verified");
    expect(await chunksOf(cwd, "h.zarr/t")).toEqual([6, 4]);
    expect(await chunksOf(cwd, "h.zarr/u")).toEqual([6, 1]);
    expect(await chunksOf(cwd, "h.zarr/x")).toEqual([10]);
    expect((await runHere(cwd, "digest", "h.zarr")).stdout).toBe(
      (await runHere(cwd, "digest", "g.zarr")).stdout,
    );
    expect((await readdir(cwd)).sort()).toEqual(["g.zarr", "h.zarr"]);
  });

  it("goes straight into a zip", async () => {
    const cwd = await group();
    const args = ["g.zarr/t", "t.zip", "--chunks", "-1,5", "--codec", "zstd:1", "--json"];
    const { code, stdout } = await runHere(cwd, "rechunk", ...args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ chunksRead: 6, chunksWritten: 2 });
    const [source] = (await runHere(cwd, "digest", "g.zarr/t")).stdout.split(" ");
    expect((await runHere(cwd, "digest", "t.zip")).stdout).toBe(`${source}  t.zip\n`);
  });

  it("puts chunks together in shards, which every command reads", async () => {
    const cwd = await group();
    const args = ["g.zarr", "s.zarr", "--to", "v3", "--chunks", "time=2,x=5", "--shards", "time=-1,x=10"];
    const plan = (await runHere(cwd, "rechunk", ...args, "--dry-run")).stdout;
    expect(plan).toContain("(2, 5) of 40 B in shards of (6, 10)");
    expect(await runHere(cwd, "rechunk", ...args, "--quiet")).toMatchObject({ code: 0, stderr: "" });
    expect((await readdir(join(cwd, "s.zarr/t/c"), { recursive: true })).sort()).toEqual(["0", "0/0"]);
    const info = (await runHere(cwd, "info", "s.zarr/t")).stdout;
    expect(info).toMatch(/chunks +\(2, 5\) in shards\n/);
    expect(info).toMatch(/shards +\(6, 10\), 1 of 1 present\n/);
    expect((await runHere(cwd, "tree", "s.zarr")).stdout).toContain(
      "in chunks of (2, 5) in shards of (6, 10)",
    );
    expect((await runHere(cwd, "validate", "s.zarr")).code).toBe(0);

    const digests = async (path: string) => (await runHere(cwd, "digest", path)).stdout;
    expect(await digests("s.zarr")).toBe(await digests("g.zarr"));
    expect((await runHere(cwd, "copy", "s.zarr", "plain.zarr", "--shards", "none", "--quiet")).code).toBe(0);
    expect(await digests("plain.zarr")).toBe(await digests("g.zarr"));
    expect((await runHere(cwd, "info", "plain.zarr/t")).stdout).toContain("(2, 5), 6 of 6 present");
  });

  it("reports the plan: strategy, cost, why not others, memory", async () => {
    const cwd = await group();
    const args = ["g.zarr", "h.zarr", "--chunks", "time=-1,x=4", "--max-mem", "20kB", "--dry-run"];
    const { code, stdout, stderr } = await runHere(cwd, "rechunk", ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replaceAll(cwd, "CWD")).toMatchSnapshot();
    expect(await readdir(cwd)).toEqual(["g.zarr"]);
  });

  it("gives the plan itself as JSON", async () => {
    const cwd = await group();
    const args = ["g.zarr", "h.zarr", "--chunks", "time=-1,x=4", "--dry-run", "--json", "--io", "3"];
    const { stdout } = await runHere(cwd, "rechunk", ...args);
    const plan = JSON.parse(stdout);
    expect(plan).toMatchObject({
      format: "zarrflow-plan/1",
      operation: "rechunk",
      execution: { concurrency: 3 },
    });
    expect(plan.jobs.map((job: { strategy: string }) => job.strategy)).toEqual([
      "direct",
      "direct",
      "verbatim",
    ]);
  });
});
