// @module-tag long
// @module-tag alone
import { spawnSync } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { requireBuild } from "../built-package.ts";
import { testFolder } from "../support/cli.ts";
import { ramp, writeV2Array } from "../support/v2-store.ts";

/** Whether a disk in memory may be mounted, in a namespace of its own; CI insists on it. */
const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
if (!canMount && process.env.REQUIRE_MOUNT === "1") {
  throw new Error("REQUIRE_MOUNT is set, but `unshare -rm mount -t tmpfs tmpfs /mnt` fails");
}

const library = pathToFileURL(join(import.meta.dirname, "../../dist/index.js")).href;

/**
 * Fills the disk `small` before the run, or when the first task begins, and tells what became of the run. Ends of tasks are told now and then
 * only: a fast run has none before its own.
 */
const PROGRAM = `
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { rechunk } from "${library}";

let isFull = false;
const fill = () => {
  isFull = true;
  try {
    for (let i = 0; ; i++) writeFileSync("small/filler" + i, new Uint8Array(4096));
  } catch {}
};
const onEvent = ({ type }) => {
  if (type === "task-start" && !isFull) fill();
};
const { isFullBefore, ...options } = JSON.parse(process.argv[2]);
if (isFullBefore) fill();
const error = await rechunk("a.zarr", process.argv[1], { ...options, onEvent }).then(() => undefined, (e) => e);
for (const name of readdirSync("small")) if (name.startsWith("filler")) rmSync("small/" + name);
console.log(JSON.stringify({ code: error?.code, store: error?.details.store, left: readdirSync("small") }));
`;

/** Runs the program in a folder that it alone sees, where the disk `small` of 4 MiB is. */
async function runBeside(target: string, options: object): Promise<object> {
  requireBuild();
  const cwd = await testFolder();
  await mkdir(join(cwd, "small"));
  const items = ramp(250_000);
  await writeV2Array(join(cwd, "a.zarr"), { shape: [500, 500], chunks: [1, 500], dtype: "<f4", items });
  const how = JSON.stringify({ chunks: [500, 1], maxMemory: "300kB", threads: 1, ...options });
  const inside =
    'mount -t tmpfs -o size=4m,nr_inodes=5k tmpfs small && exec "$0" --input-type=module --eval "$1" "$2" "$3"';
  const args = ["-rm", "sh", "-c", inside, process.execPath, PROGRAM, target, how];
  const { stdout, stderr } = spawnSync("unshare", args, { cwd, encoding: "utf8" });
  expect(stderr).toBe("");
  expect((await readdir(cwd)).sort()).toEqual(["a.zarr", "small"]);
  return JSON.parse(stdout);
}

describe.runIf(canMount)("a small disk", () => {
  test.each([
    ["amid a run with scratch objects", "b.zarr", { strategy: "staged", scratch: "small" }],
    ["before a run", "small/b.zarr", { strategy: "direct", isFullBefore: true }],
    ["amid a run with the target", "small/b.zarr", { strategy: "direct" }],
    ["amid a run with a zip", "small/b.zarr.zip", { strategy: "direct" }],
  ])("that fills up, %s, ends the run, and nothing is left", async (_, target, options) => {
    const ended = { code: "no-space", store: expect.stringContaining("small"), left: [] };
    expect(await runBeside(target, options)).toEqual(ended);
  });

  test("cannot itself become a target", async () => {
    expect(await runBeside("small", {})).toMatchObject({ code: "invalid-option", left: [] });
  });
});
