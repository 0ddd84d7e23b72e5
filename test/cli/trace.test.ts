// @module-tag slow
import { readdir, readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TraceFile } from "../../src/cli/trace.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { writeV2Array } from "../support/v2-store.ts";

async function withArray(): Promise<string> {
  const cwd = await testFolder();
  await writeV2Array(join(cwd, "a.zarr"), { shape: [6, 10], chunks: [1, 10] });
  return cwd;
}

async function linesOf(cwd: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(cwd, "run.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const rechunked = (cwd: string) =>
  runHere(cwd, "rechunk", "a.zarr", "b.zarr", "--chunks", "6,2", "--trace", "run.jsonl", "--quiet");

describe("--trace", () => {
  it("names every key that a run writes, once, and the task that writes it", async () => {
    const cwd = await withArray();
    expect(await rechunked(cwd)).toMatchObject({ code: 0 });
    const lines = await linesOf(cwd);
    const written = lines.filter(({ type }) => type === "written");
    expect(written.map(({ key }) => key).sort()).toEqual((await readdir(join(cwd, "b.zarr"))).sort());
    const chunks = written.filter(({ key }) => !String(key).startsWith("."));
    expect(chunks).toHaveLength(5);
    const tasks = lines.filter(({ type }) => type === "task-end").map(({ task }) => task);
    for (const { task, size } of chunks) expect([tasks.includes(task), size]).toEqual([true, 48]);
    expect([lines[0]?.type, lines.at(-1)?.type]).toEqual(["plan", "done"]);
    for (const { ms } of lines) expect(ms).toEqual(expect.any(Number));
  });

  it("holds what happened before a run failed", async () => {
    const cwd = await withArray();
    await truncate(join(cwd, "a.zarr/3.0"), 7);
    expect(await rechunked(cwd)).toMatchObject({ code: 1 });
    const lines = await linesOf(cwd);
    const failed = lines.find(({ type }) => type === "task-failed");
    expect(failed).toMatchObject({ task: 0, error: { code: "corrupt-chunk" } });
  });

  it("fails before the run where the file cannot be written", async () => {
    const cwd = await withArray();
    const args = ["copy", "a.zarr", "b.zarr", "--trace", "none/run.jsonl"];
    const { code, stderr } = await runHere(cwd, ...args);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining("file none/run.jsonl") });
    expect(await readdir(cwd)).toEqual(["a.zarr"]);
  });

  it.each([
    ["copy a.zarr b.zarr --trace b.zarr", "--trace names the target"],
    ["copy a.zarr b.zarr --trace a.zarr/run.jsonl", "--trace names a file in the source"],
    ["copy a.zarr b.zarr.zip --report b.zarr.zip", "--report names the target"],
    ["copy a.zarr b.zarr --report ./b.zarr/r.html", "--report names a file in the target"],
    ["copy a.zarr b.zarr --trace r.html --report ./r.html", "--trace and --report name one file"],
    ["copy a.zarr b.zarr --dry-run --report a.zarr/r.html", "--report names a file in the source"],
    ["slice a.zarr --slice 0 --output a.zarr/x.npy", "--output names a file in the source"],
    ["plan copy a.zarr b.zarr --codec zstd --output b.zarr/p.json", "--output names a file in the target"],
  ])("is refused in places of the command, as other files are: %s", async (line, reason) => {
    const cwd = await withArray();
    const before = await readdir(cwd, { recursive: true });
    const { code, stderr } = await runHere(cwd, ...line.split(" "));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(reason) });
    expect(await readdir(cwd, { recursive: true })).toEqual(before);
  });

  it("names key and attempt of requests that are made again", async () => {
    const cwd = await testFolder();
    const trace = new TraceFile(join(cwd, "run.jsonl"));
    const error = new ZarrflowError("transient", "the server is busy", { found: "503" });
    const retry = { store: "S3", operation: "get", key: "a/0", error, attempt: 2, wait: 400 };
    trace.note({ type: "retry", retry });
    trace.open();
    trace.close();
    const { message } = error;
    expect(await linesOf(cwd)).toEqual([
      { ms: expect.any(Number), type: "retry", ...retry, error: { code: "transient", message } },
    ]);
  });
});
