import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { convert, copy, diff, digest, rechunk, sliceTo } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all } from "../support/consume.ts";
import { hasPython, runPython } from "./python.ts";
import { hasShared, shared } from "./shared.ts";

const folder = temporaryFolder();

type Format = "v2" | "v3";

/** Two stores that are to be the same to xarray. */
interface Job {
  readonly a: string;
  readonly b: string;
  /** What is taken of the first. */
  readonly isel?: Readonly<Record<string, readonly [number, number]>>;
  /** What `use_zarr_fill_value_as_mask` is for each. */
  readonly mask_a?: boolean;
  readonly mask_b?: boolean;
  /** Whether missing values, packing and times are decoded; true by default. */
  readonly decode?: boolean;
}

interface Dataset {
  readonly chunks: string;
  readonly slice: Readonly<Record<string, readonly [number, number]>>;
}

/** The datasets of xarray_matrix.py, with chunks and a part for each. */
const DATA_SETS: Readonly<Record<string, Dataset>> = {
  numbers: { chunks: "x=5", slice: { x: [1, 8] } },
  packed: { chunks: "y=5,x=4", slice: { y: [1, 4] } },
  text: { chunks: "x=2", slice: { x: [1, 3] } },
  times: { chunks: "x=2", slice: { x: [0, 2] } },
  calendars: { chunks: "time=3", slice: { time: [1, 4] } },
  geozarr: { chunks: "y=2,x=3", slice: { y: [1, 3], x: [0, 3] } },
  flags: { chunks: "x=4", slice: { x: [1, 5] } },
  coordinates: { chunks: "time=3,lat=2", slice: { time: [1, 3] } },
  sparse: { chunks: "y=3,x=8", slice: { y: [3, 8], x: [0, 3] } },
  tree: { chunks: "y=3,x=2", slice: { time: [1, 3], x: [0, 3] } },
};

describe.runIf(hasPython)("what xarray wrote, read by xarray after", () => {
  let found: ReadonlyMap<string, readonly string[]>;
  const jobs: { readonly name: string; readonly job: Job }[] = [];

  const other = (format: Format): Format => (format === "v2" ? "v3" : "v2");
  const at = (name: string) => join(folder.path, name);

  /** All ways to a new store; what is compared is noted, so that Python starts once. */
  async function write(name: string, format: Format): Promise<void> {
    const { chunks, slice } = DATA_SETS[name] ?? { chunks: "", slice: {} };
    const source = at(`${name}.${format}.zarr`);
    const to = other(format);
    const made = (way: string) => at(`${name}.${format}.${way}.zarr`);
    const compare = (way: string, more: Omit<Job, "a" | "b"> = {}, what = way) => {
      jobs.push({ name: `${name} ${format} ${what}`, job: { a: source, b: made(way), ...more } });
    };
    await convert(source, made("converted"), { to });
    compare("converted");
    compare("converted", { decode: false }, "converted, undecoded");
    const masks = format === "v2" ? { mask_a: true, mask_b: false } : { mask_a: false, mask_b: true };
    compare("converted", masks, "converted, as each format is read by default");
    await copy(made("converted"), made("back"), { to: format });
    compare("back");
    await rechunk(source, made("rechunked"), { chunks });
    await sliceTo(source, made("part"), { slice });
    for (const mask of [true, false]) {
      const both = { mask_a: mask, mask_b: mask };
      compare("back", both, `back, use_zarr_fill_value_as_mask=${mask}`);
      compare("rechunked", both, `rechunked, use_zarr_fill_value_as_mask=${mask}`);
      compare("part", { ...both, isel: slice }, `part, use_zarr_fill_value_as_mask=${mask}`);
    }
    await rechunk(source, made("rechunked-and-converted"), { chunks, to });
    compare("rechunked-and-converted");
    await sliceTo(source, made("part-and-converted"), { slice, to });
    compare("part-and-converted", { isel: slice });
    if (to !== "v3") return;
    await rechunk(source, made("in-shards"), { chunks, shards: chunks, to });
    compare("in-shards");
  }

  beforeAll(async () => {
    const names = (await runPython("xarray_matrix.py", "make", folder.path)) as string[];
    expect(names).toEqual(Object.keys(DATA_SETS));
    for (const name of names) for (const format of ["v2", "v3"] as const) await write(name, format);
    const damaged = at("damaged.zarr");
    await copy(at("packed.v2.zarr"), damaged);
    const zarray = join(damaged, "masked/.zarray");
    writeFileSync(zarray, readFileSync(zarray, "utf8").replace("-999", "null"));
    rmSync(join(damaged, ".zmetadata"));
    jobs.push({ name: "damaged", job: { a: at("packed.v2.zarr"), b: damaged } });
    writeFileSync(at("jobs.json"), JSON.stringify(jobs.map(({ job }) => job)));
    const answers = (await runPython("xarray_matrix.py", "compare", at("jobs.json"))) as string[][];
    found = new Map(jobs.map(({ name }, i) => [name, answers[i] ?? ["no answer"]]));
  }, 300_000);

  test.each(Object.keys(DATA_SETS).flatMap((name) => [`${name} v2`, `${name} v3`]))(
    "%s is identical in every way to a new store, encodings too",
    (title) => {
      const ours = [...found].filter(([name]) => name.startsWith(`${title} `));
      expect(ours).toHaveLength(title.endsWith("v2") ? 13 : 12);
      expect(ours.filter(([, differences]) => differences.length > 0)).toEqual([]);
    },
  );

  test("a missing value that was lost is seen", () => {
    expect(found.get("damaged")?.join()).toContain("_FillValue");
  });

  test.each(Object.keys(DATA_SETS))(
    "%s there and back has no difference, and the same digests",
    async (name) => {
      for (const format of ["v2", "v3"]) {
        const [source, converted, back] = ["zarr", "converted.zarr", "back.zarr"].map((end) =>
          at(`${name}.${format}.${end}`),
        ) as [string, string, string];
        expect(await differences(source, back)).toEqual([]);
        expect(await differences(source, converted)).toEqual([]);
        expect(await digests(converted)).toEqual(await digests(source));
        expect(await digests(back)).toEqual(await digests(source));
      }
    },
  );
});

describe.runIf(hasPython && hasShared)("real winds", () => {
  test("none of them is missing in v2", async () => {
    const source = `${shared}data/era-interim-uvz.v3.zarr`;
    const target = join(folder.path, "uvz.v2.zarr");
    await convert(source, target, { to: "v2" });
    const counts = await runPython("xarray_matrix.py", "missing", source, target);
    const none = { latitude: 0, level: 0, longitude: 0, month: 0, u: 0, v: 0, z: 0 };
    expect(counts).toEqual({ [source]: none, [target]: none });
  });
});

async function differences(a: string, b: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { path, what, counts, pointer } of diff(a, b)) {
    if (counts) found.push([path, what, pointer].join(" "));
  }
  return found;
}

async function digests(store: string): Promise<unknown[]> {
  return (await all(digest(store))).map(({ path, sha256, missingValue }) => ({ path, sha256, missingValue }));
}
