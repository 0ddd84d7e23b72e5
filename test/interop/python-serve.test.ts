import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openArray, slice } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { equal, jsonValue } from "./compare.ts";
import { hasPython, runPython } from "./python.ts";
import { groupLimitOf, limitOf, type Reader, type ReadOutcome } from "./reader-limits.ts";
import { type GoodArray, goodArrays } from "./rewritten.ts";
import { MODES, type ServedCase, type ServedCases, serveCases } from "./served-cases.ts";
import { hasShared, shared } from "./shared.ts";
import { asJson } from "./tally.ts";

const folder = temporaryFolder();
const READERS: readonly Reader[] = ["zarr-python", "tensorstore", "zarrita"];

describe.runIf(hasPython && hasShared)("arrays of both corpora, served over HTTP", () => {
  let served: ServedCases;
  const counts: Record<string, unknown> = {};
  /** What zarr-python cannot read of arrays as they are. */
  const unread = new Set<string>();

  beforeAll(async () => {
    served = await serveCases(goodArrays);
  });
  afterAll(() => served.close());

  /** What one process of a reader finds. */
  async function readBy(reader: Reader, jobs: readonly ReadJob[]): Promise<(job: ReadJob) => ReadOutcome> {
    const list = join(folder.path, `${reader}.json`);
    writeFileSync(list, JSON.stringify(jobs.map(({ case: _, ...job }) => job)));
    let found: unknown;
    if (reader === "zarrita") {
      const script = fileURLToPath(new URL("read-by-zarrita.mjs", import.meta.url));
      const run = await promisify(execFile)(process.execPath, [script, list], { maxBuffer: 2 ** 26 });
      found = JSON.parse(run.stdout);
    } else found = await runPython("read_served.py", reader, list);
    const byId = found as Readonly<Record<string, ReadOutcome>>;
    return ({ id }) => byId[id] ?? { error: "not read" };
  }

  test.each(READERS)(
    "%s reads the values of the manifest, or cannot read the same from files",
    async (reader) => {
      const jobs = served.cases
        .filter(({ format }) => /^v[23]$/.test(format))
        .map((one) => jobOf(one, one.url));
      const found = await readBy(reader, jobs);
      const others = jobs.filter((job) => !isRight(job.case.array, found(job)));
      const files: ReadJob[] = [];
      for (const job of others) files.push({ ...job, url: await job.case.copyTo(folder.path) });
      const inFiles = await readBy(reader, files);
      const limits = countLimits(others, (job) => {
        const [outcome, there] = [found(job), inFiles(job)];
        const limit = limitOf(reader, job.case.array.id, outcome);
        return isSame(outcome, there) && limit ? limit : { id: job.id, outcome, there };
      });
      if (reader === "zarr-python")
        for (const { case: one } of others) if (one.mode === "as it is") unread.add(one.array.id);
      const right = countOf(jobs.filter((job) => !others.includes(job)));
      counts[reader] = { right, of: countOf(jobs), limits };
    },
    300_000,
  );

  test("zarr-python finds all that it reads by consolidated metadata of whole stores", async () => {
    const arrays = served.cases
      .filter(({ mode, format }) => mode === "as it is" && /^v[23]$/.test(format))
      .filter(({ array: { id, path } }) => path !== "" && !OF_TWO_FORMATS.test(id));
    const jobs: ReadJob[] = [];
    for (const source of new Set(arrays.map(({ array }) => array.folder))) {
      const inside = arrays.filter(({ array }) => array.folder === source);
      // One array that it cannot parse is enough for it to refuse the group.
      const exclude = inside.filter(({ array }) => unread.has(array.id)).map(({ array }) => array.path);
      const url = await served.serveWhole(source, { exclude: [...exclude, ...NOT_OURS] });
      for (const one of inside)
        if (!unread.has(one.array.id)) jobs.push({ ...jobOf(one, url), path: one.array.path });
    }
    const found = await readBy("zarr-python", jobs);
    const wrong = jobs.filter((job) => !isRight(job.case.array, found(job)));
    const limits = countLimits(
      wrong,
      (job) => groupLimitOf(job.case.array.id) ?? { id: job.id, ...found(job) },
    );
    counts["zarr-python, whole stores"] = { right: jobs.length - wrong.length, of: jobs.length, limits };
  }, 300_000);

  test("zarrflow reads those of every format", async () => {
    const wrong: unknown[] = [];
    const cases = served.cases.filter(
      ({ mode, array }) => mode === "as it is" && !OF_TWO_FORMATS.test(array.id),
    );
    for (const { array, url } of cases) {
      const node = await openArray(url);
      const part = slice(node, array.selection ?? {});
      const hash = createHash("sha256");
      if (!array.values) for await (const bytes of part.bytes()) hash.update(bytes);
      const outcome = array.values
        ? { values: [...(await part.read()).data].map(jsonValue) }
        : { sha256: hash.digest("hex") };
      if (!isRight(array, outcome)) wrong.push({ id: array.id, outcome });
    }
    counts.zarrflow = { right: cases.length - wrong.length, of: cases.length };
    expect(wrong).toEqual([]);
  }, 300_000);

  test("no request failed, and the counts are the approved ones", async () => {
    expect(served.failures).toEqual([]);
    const refused = (wanted: string) =>
      served.refused.filter(({ mode }) => mode === wanted).map(({ id, code }) => `${id}: ${code}`);
    counts["cannot be served so"] = Object.fromEntries(MODES.map((mode) => [mode, refused(mode)]));
    console.log(counts);
    await expect(asJson(counts)).toMatchFileSnapshot("approved/read-served.json");
  });
});

describe.runIf(hasPython && hasShared)("CF datasets, served over HTTP", () => {
  test("are to xarray what they are on disk, rechunked and converted too", async () => {
    const served = await serveCases([]);
    try {
      const pairs: string[] = [];
      for (const [name, chunks] of Object.entries(CF_CHUNKS)) {
        const source = join(shared, "data", name);
        for (const changes of [{}, { to: "v2" }, { to: "v3" }, { chunks, codec: "zstd" }] as const)
          pairs.push(source, await served.serveWhole(source, changes));
      }
      const found = (await runPython("serve_xarray.py", ...pairs)) as string[][];
      expect(found.map((names) => names.length)).toEqual([4, 4, 4, 4, 7, 7, 7, 7, 4, 4, 4, 4]);
      expect(served.failures).toEqual([]);
    } finally {
      await served.close();
    }
  });
});

const CF_CHUNKS = {
  "era5-uk-t2m.zarr": "time=-1,latitude=11",
  "era-interim-uvz.v3.zarr": "month=-1,latitude=60",
  "basin-mask.zarr": "Y=50,X=-1",
};

/** Arrays that zarrflow does not read, in stores of which it reads all others. */
const NOT_OURS = ["pickle", "rectilinear"];

/** What is found at their place has the other format. */
const OF_TWO_FORMATS = /both-formats/;

interface ReadJob {
  readonly id: string;
  readonly url: string;
  readonly format: number;
  readonly path?: string;
  readonly selection: GoodArray["selection"];
  readonly values: boolean;
  readonly case: ServedCase;
}

function jobOf(one: ServedCase, url: string): ReadJob {
  const { id, selection, sha256 } = one.array;
  const format = Number(one.format.slice(1));
  return { id: `${id}, ${one.mode}`, url, format, selection, values: sha256 === undefined, case: one };
}

/** How often each limit is the reason, and holds that there is one. */
function countLimits(
  jobs: readonly ReadJob[],
  reasonOf: (job: ReadJob) => string | object,
): Record<string, number> {
  const reasons = jobs.map(reasonOf);
  expect(reasons.filter((reason) => typeof reason !== "string")).toEqual([]);
  const limits: Record<string, number> = {};
  for (const limit of reasons as string[]) limits[limit] = (limits[limit] ?? 0) + 1;
  return limits;
}

function isRight(array: GoodArray, { sha256, values, error }: ReadOutcome): boolean {
  if (error !== undefined) return false;
  if (array.undefined_fill || (sha256 !== undefined && sha256 === array.sha256)) return true;
  return [array.values, ...(array.also_accept_values ?? [])].some(
    (wanted) => wanted && equal(values, wanted),
  );
}

/** Whether a reader found the same, or failed both times. */
function isSame(a: ReadOutcome, b: ReadOutcome): boolean {
  const failed = (one: ReadOutcome) => one.error !== undefined;
  return failed(a) === failed(b) && a.sha256 === b.sha256 && equal(a.values, b.values);
}

function countOf(jobs: readonly ReadJob[]): Record<string, number> {
  return Object.fromEntries(MODES.map((mode) => [mode, jobs.filter((job) => job.case.mode === mode).length]));
}
