// @module-tag long
// @module-tag alone
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { makeGroup, makeSteps } from "./made-sources.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOf } from "./peak-memory.ts";

const BUDGET = 48;
/** What Node, the library and the kernels of two threads take besides the budget. */
const PROGRAM = 120;
/** What twice the data may add. */
const GROWTH = 18;

const folder = temporaryFolder();

/** What is done, into what, of data made by `make` in one size or double. */
const cases: readonly {
  readonly what: string;
  readonly target: string;
  readonly options: readonly string[];
  readonly make?: (path: string, size: number) => Promise<string>;
}[] = [
  { what: "direct windows", target: "t.zarr", options: ["--chunks", "-1,16,64", "--strategy", "direct"] },
  {
    what: "the staged strategy",
    target: "t.zarr",
    options: ["--chunks", "-1,16,64", "--strategy", "staged"],
  },
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

describePeaks(`peak resident memory within ${BUDGET} MB`, () => {
  test.each(cases)(
    "of $what, at 64 and 128 MiB",
    async ({ what, target, options, make = makeSteps }) => {
      const to = join(folder.path, target);
      const within = ["--max-mem", `${BUDGET}MB`, "--threads", "2", "--scratch", folder.path];
      const sources = await Promise.all(
        [128, 256].map((size) => make(join(folder.path, `${size}.zarr`), size)),
      );
      const runs = sources.map((source) => async () => {
        const peak = await peakMemoryOf("rechunk", source, to, ...options, ...within);
        await rm(to, { recursive: true });
        return peak;
      });
      await expectPeaks(what, { peak: (BUDGET + PROGRAM) * MB, growth: GROWTH * MB }, ...runs);
      for (const source of sources) await rm(source, { recursive: true });
    },
    300_000,
  );
});
