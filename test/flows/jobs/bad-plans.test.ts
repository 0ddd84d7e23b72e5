// @module-tag slow
import { appendFile, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { taskNumber } from "../../../src/cli/commands/run.ts";
import { parsePlan } from "../../../src/flows/jobs/parse-plan.ts";
import { finishPlan, runShare } from "../../../src/flows/jobs/run-share.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { copy } from "../../../src/index.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { testFolder } from "../../support/cli.ts";
import { changed, ENCODERS, makeSource, textOf, withChecksum } from "./support.ts";

const DIRECT = { chunks: [48, 8, 8], threads: 1, maxMemory: "200kB", strategy: "direct" } as const;
let text = "";
let staged = "";

const made = temporaryFolder();

async function planIn(folder: string): Promise<string> {
  await makeSource(join(folder, "src.zarr"));
  return textOf(planFlow(join(folder, "src.zarr"), join(folder, "out.zarr"), DIRECT));
}

beforeAll(async () => {
  const folder = made.path;
  text = await planIn(folder);
  const how = { ...DIRECT, strategy: "staged", scratch: join(folder, "scratch") } as const;
  staged = await textOf(planFlow(join(folder, "src.zarr"), join(folder, "out.zarr"), how));
  await rm(folder, { recursive: true });
});

test("a plan that nobody changed is what was written", () => {
  expect(withChecksum(text)).toBe(JSON.stringify(JSON.parse(text)));
  expect(parsePlan(text).plan.jobs).toHaveLength(1);
  expect(parsePlan(staged).plan.stages).toHaveLength(2);
});

describe("a plan is rejected, with where", () => {
  const job = ["plan", "jobs", 0];
  const kind = ["plan", "kinds", 0];
  const document = ["plan", "publication", "documents", 0];
  const web = (host: string) => ({ kind: "http", url: `http://${host}/` });
  const cases: readonly (readonly [string, readonly (string | number)[], unknown, RegExp])[] = [
    ["another version", ["format"], "zarrflow-plan-file/1", /plans of this format/],
    ["a source outside", ["plan", "source", "path"], "../x", /path of a node inside its store/],
    ["a relative source", ["plan", "source", "store", "path"], "src.zarr", /absolute path/],
    ["a way out of a folder", ["plan", "source", "store", "path"], "/data/../etc", /absolute path/],
    ["a store of an unknown kind", ["plan", "source", "store", "kind"], "ftp", /spec of a store/],
    ["credentials in a URL", ["plan", "source", "store"], web("a:b@c"), /spec of a store/],
    ["a target on the web", ["plan", "target", "store"], web("c"), /must be a folder/],
    ["an array outside", [...job, 0], "a/../../b", /path of a node inside its store/],
    ["an array that nothing describes", [...job, 1], 7, /not described/],
    ["an array twice", ["plan", "jobs"], Array(2).fill(["", 0]), /belongs to another array/],
    ["what is no array", job, ["", 0, "x"], /must be a list/],
    ["a document outside", [...document, "key"], "../zarr.json", /key inside its store/],
    ["a document read from outside", document, { key: "a", from: "/etc/x" }, /key inside/],
    ["a source document outside", ["sourceDocuments", 0, 0], "../.zarray", /key inside its store/],
    ["more tasks than windows", [...kind, "tasks"], 10, /do not match the windows/],
    ["huge counts", [...kind, "tasks"], 1e300, /a whole number/],
    [
      "a huge shape",
      [...kind, "target", "shape"],
      [1e15, 32, 32],
      /not what the plan selects|do not match the windows/,
    ],
    ["tasks of no stage", ["plan", "stages"], [1, 2, 3], /other tasks than the arrays/],
    ["a window of no chunks", [...kind, "window"], [0, 1, 1], /a whole number/],
    ["a window of another rank", [...kind, "window"], [1, 1], /same number of dimensions/],
    ["a selection outside", [...kind, "selection", "start"], [1, 0, 0], /not what the plan selects/],
    ["a task beyond the budget", [...kind, "leaseBytes"], 1e9, /memory budget/],
    ["a thousand threads and more", ["plan", "execution", "threads"], 1e6, /a whole number/],
    ["another name of the run", ["id"], "../../x", /UUID/],
    ["a member that is gone", [...kind, "window"], undefined, /must be a list/],
    ["an update", ["plan", "publication", "existing"], "update", /absent/],
  ];
  test.each(cases)("%s", (_, path, value, reason) => {
    const refused = { code: "plan-mismatch", message: expect.stringMatching(reason) };
    expect(() => parsePlan(changed(text, path, value))).toThrow(expect.objectContaining(refused));
  });

  test("an edited one, a truncated one, none, and a staged one without a place for scratch objects", () => {
    expect(() => parsePlan(changed(staged, ["plan", "scratch"], undefined))).toThrow(/needs a place/);
    expect(() => parsePlan(text.replace('"readAhead": ', '"readAhead": 1'))).toThrow(/was changed/);
    for (const other of [text.slice(0, 200), "", "[]", "null", "{}", '{"format":"zarrflow-plan/1"}']) {
      expect(() => parsePlan(other)).toThrow(expect.objectContaining({ code: "plan-mismatch" }));
    }
  });
});

test("what several processes cannot do is not planned", async () => {
  const folder = await testFolder();
  const src = join(folder, "src.zarr");
  await makeSource(src);
  await copy(src, join(folder, "there.zarr"));
  const refused = { code: "unsupported-operation", details: { hint: expect.any(String) } };
  await expect(textOf(planFlow(src, join(folder, "out.zarr.zip")))).rejects.toMatchObject(refused);
  const skip = planFlow(src, join(folder, "there.zarr"), { ifExists: "skip" });
  await expect(textOf(skip)).rejects.toMatchObject(refused);
  const noScratch = planFlow(src, join(folder, "o.zarr"), { ...DIRECT, strategy: "staged" });
  await expect(textOf(noScratch)).rejects.toMatchObject(refused);
});

describe("a run is refused", () => {
  test("for a changed source, and leaves nothing", async () => {
    const folder = await testFolder();
    const file = parsePlan(await planIn(folder));
    await appendFile(join(folder, "src.zarr/.zarray"), " ");
    const run = runShare(file, { encoders: ENCODERS, index: 0, count: 2 });
    await expect(run).rejects.toMatchObject({ code: "source-changed", details: { key: ".zarray" } });
    expect(await readdir(folder)).toEqual(["src.zarr"]);
  });

  test("with another version, out of range, and where a target is", async () => {
    const folder = await testFolder();
    const file = parsePlan(await planIn(folder));
    const run = (index: number, count: number, zarrflow = "1") =>
      runShare(file, { encoders: { ...ENCODERS, zarrflow }, index, count });
    await expect(run(0, 2, "2")).rejects.toMatchObject({ code: "plan-mismatch" });
    await expect(run(2, 2)).rejects.toMatchObject({ code: "invalid-option" });
    await expect(run(0, 1e9)).rejects.toMatchObject({ code: "invalid-option" });
    await mkdir(join(folder, "out.zarr"));
    await writeFile(join(folder, "out.zarr/.zgroup"), "{}");
    await expect(run(0, 2)).rejects.toMatchObject({ code: "target-exists" });
  });

  test("for another plan with the same name", async () => {
    const folder = await testFolder();
    const one = await planIn(folder);
    await runShare(parsePlan(one), { encoders: ENCODERS, index: 0, count: 2 });
    const other = parsePlan(changed(one, ["options", "writeEmptyChunks"], true));
    const run = runShare(other, { encoders: ENCODERS, index: 1, count: 2 });
    await expect(run).rejects.toMatchObject({ code: "plan-mismatch" });
  });
});

test("a run with tasks undone is not finished: how many, which, and how to go on", async () => {
  const folder = await testFolder();
  const file = parsePlan(await planIn(folder));
  const options = { encoders: ENCODERS };
  await expect(finishPlan(file, options)).rejects.toMatchObject({ code: "not-found" });
  const tasks = file.plan.stages[0] ?? 0;
  expect(tasks).toBeGreaterThan(4);
  const [first, second] = [0, 1].map((index) => runShare(file, { ...options, index, count: 4 }));
  await Promise.all([first, second]);
  await expect(finishPlan(file, options)).rejects.toMatchObject({
    code: "tasks-undone",
    exitCode: 75,
    message: expect.stringMatching(/^\d+ of \d+ tasks of stage 1 are not done .*index 2, 3 of 4/),
    details: { hint: expect.stringContaining("--stage 1 --task-index I --task-count 4") },
  });
  // the rest by shares of another count
  const report = await runShare(file, { ...options, index: 1, count: 2 });
  expect(report.tasksResumed).toBe(0);
  expect((await finishPlan(file, { ...options, verify: "values" })).arraysVerified).toBe(1);
  await expect(finishPlan(file, options)).rejects.toMatchObject({ code: "not-found" });
}, 300_000);

test("the number of a task is what flags or the engine say", () => {
  const array = { SLURM_ARRAY_TASK_COUNT: "4", SLURM_ARRAY_TASK_MIN: "3", SLURM_ARRAY_TASK_STEP: "5" };
  const slurm = (id: string) => ({ ...array, SLURM_ARRAY_TASK_ID: id });
  expect(taskNumber({ index: "3", count: "8" }, slurm("3"))).toEqual({ index: 3, count: 8 });
  expect(taskNumber({}, slurm("13"))).toEqual({ index: 2, count: 4 });
  expect(taskNumber({ count: "9" }, slurm("3"))).toEqual({ index: 3, count: 9 });
  expect(taskNumber({ count: "9" }, { JOB_COMPLETION_INDEX: "8" })).toEqual({ index: 8, count: 9 });
  const batch = { AWS_BATCH_JOB_ARRAY_INDEX: "1", AWS_BATCH_JOB_ARRAY_SIZE: "2" };
  expect(taskNumber({}, batch)).toEqual({ index: 1, count: 2 });
  const own = { ZARRFLOW_TASK_INDEX: "4", ZARRFLOW_TASK_COUNT: "5", ...batch };
  expect(taskNumber({}, own)).toEqual({ index: 4, count: 5 });
  for (const env of [{}, { JOB_COMPLETION_INDEX: "0" }, { SLURM_ARRAY_TASK_ID: "1" }]) {
    expect(() => taskNumber({}, env)).toThrow(expect.objectContaining({ exitCode: 64 }));
  }
  for (const wrong of [slurm("4"), slurm("23"), { ...batch, AWS_BATCH_JOB_ARRAY_INDEX: "x" }]) {
    expect(() => taskNumber({}, wrong)).toThrow(expect.objectContaining({ code: "invalid-option" }));
  }
});
