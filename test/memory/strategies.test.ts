import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requireBuild } from "../built-package.ts";
import { makeGroup, makeSteps } from "./made-steps.ts";
import { peakMemoryOf } from "./peak-memory.ts";

const MB = 1e6;
const BUDGET = 48;
/** What Node, the library and the kernels of two threads take besides the budget. */
const PROGRAM = 120;
/** What twice the data may add: buffers that were transferred between threads wait for the garbage collector. */
const GROWTH = 24;

let folder: string;
beforeAll(async () => {
  requireBuild();
  folder = await mkdtemp(join(tmpdir(), "zarrflow-memory-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What is done, into what, of data made by `make` in one size or double. */
const cases: readonly {
  readonly what: string;
  readonly target: string;
  readonly options: readonly string[];
  readonly make?: (path: string, size: number) => Promise<string>;
}[] = [
  { what: "direct windows", target: "t.zarr", options: ["--chunks", "-1,16,64", "--strategy", "direct"] },
  { what: "a shuffle", target: "t.zarr", options: ["--chunks", "-1,16,64", "--strategy", "shuffle"] },
  { what: "a zip", target: "t.zarr.zip", options: ["--chunks", "-1,16,64"] },
  {
    what: "shards",
    target: "t.zarr",
    options: ["--to", "v3", "--chunks", "32,16,64", "--shards", "-1,64,128"],
  },
  {
    what: "a hierarchy of 200 arrays",
    target: "t.zarr",
    options: ["--chunks", "time=-1,y=64,x=64"],
    make: (path, size) => makeGroup(path, 200, size / 128),
  },
];

describe.runIf(process.platform === "linux")(`peak resident memory within ${BUDGET} MB`, () => {
  test.each(cases)(
    "of $what, at 64 and 128 MiB",
    async ({ what, target, options, make = makeSteps }) => {
      const peaks: number[] = [];
      for (const size of [128, 256]) {
        const source = await make(join(folder, `${size}.zarr`), size);
        const to = join(folder, target);
        const within = ["--max-mem", `${BUDGET}MB`, "--threads", "2", "--scratch", folder, "--quiet"];
        peaks.push(await peakMemoryOf("rechunk", source, to, ...options, ...within));
        await rm(to, { recursive: true });
        await rm(source, { recursive: true });
      }
      console.log(`VmHWM of ${what}: ${peaks.map((peak) => Math.round(peak / MB)).join(" and ")} MB`);
      const [single = 0, double = 0] = peaks;
      expect(double).toBeLessThan((BUDGET + PROGRAM) * MB);
      expect(double - single).toBeLessThan(GROWTH * MB);
    },
    120_000,
  );
});
