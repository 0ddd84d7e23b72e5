// @module-tag slow
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { openPlan } from "../../../src/flows/jobs/open-plan.ts";
import { parsePlan } from "../../../src/flows/jobs/parse-plan.ts";
import { finishPlan, runShare } from "../../../src/flows/jobs/run-share.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { type ArrayChanges, asStore, openArray, rechunk, slice } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { ENCODERS, textOf } from "../../flows/jobs/support.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { contentsOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
let source = "";
let module = "";

const PLACES = `export default ({ data, region: { start, shape } }) =>
  data.map((one, i) => one + 1000 * (start[0] + Math.floor(i / (shape[1] * shape[2]))));\n`;

beforeAll(async () => {
  const array = { shape: [24, 16, 16], chunks: [1, 16, 16], dataType: "int32" };
  source = await given({ at: at("source.zarr"), ...array, values: (i) => i % 256 });
  module = at("places.mjs");
  await writeFile(module, PLACES);
});

const changes = (map: unknown): ArrayChanges => ({ "*": { map: map as string, dataType: "float64" } });
const how = { chunks: [24, 2, 2], storeProfile: "5ms" };

/** What the values are to be. */
const expected = Array.from({ length: 24 * 256 }, (_, i) => (i % 256) + 1000 * Math.floor(i / 256));

const bytesAt = (target: string) => contentsOf(new DirectoryStore(target));

async function valuesAt(target: string): Promise<number[]> {
  return Array.from((await slice(target).read()).data as ArrayLike<number>);
}

test.each(["direct", "staged"] as const)(
  "a module gives the same bytes whatever number of threads is asked for, %s",
  async (strategy) => {
    const targets = [1, 3].map((threads) => ({ threads, target: at(`${strategy}-${threads}.zarr`) }));
    for (const { threads, target } of targets)
      await rechunk(source, target, { ...how, strategy, threads, arrays: changes(module), verify: "values" });
    const [one, three] = await Promise.all(targets.map(({ target }) => bytesAt(target)));
    expect(three).toEqual(one);
    expect(await valuesAt(targets[0]?.target ?? "")).toEqual(expected);
  },
);

test("a module that throws is named with the chunk, where threads are asked for", async () => {
  const throwing = at("throwing.mjs");
  await writeFile(throwing, "export default () => { throw new Error('no value'); };");
  await expect(
    rechunk(source, at("thrown.zarr"), { ...how, threads: 3, arrays: changes(throwing) }),
  ).rejects.toMatchObject({
    code: "codec-error",
    message: expect.stringMatching(/chunk .*`map` threw: no value/),
    details: { url: expect.stringContaining("throwing.mjs"), coords: expect.any(Array) },
  });
  expect(existsSync(at("thrown.zarr"))).toBe(false);
});

describe("a run that was stopped", () => {
  const slow = { strategy: "direct", maxMemory: "60kB", threads: 1, concurrency: 1 } as const;
  const flow = (target: string, map: unknown, more: object = {}) =>
    rechunk(source, target, { ...how, chunks: [8, 3, 3], ...slow, arrays: changes(map), ...more });

  async function stopped(target: string, map: unknown): Promise<void> {
    const stopping = new AbortController();
    let steps = 0;
    const onEvent = ({ type }: { type: string }) => {
      if (type === "task-end" && ++steps === 2) stopping.abort();
    };
    const running = flow(target, map, { stop: stopping.signal, resume: true, onEvent });
    await expect(running).rejects.toThrow("aborted");
  }

  test("writes the same bytes when it is resumed", async () => {
    await flow(at("whole.zarr"), module);
    await stopped(at("cut.zarr"), module);
    await flow(at("cut.zarr"), module, { resume: true });
    expect(await bytesAt(at("cut.zarr"))).toEqual(await bytesAt(at("whole.zarr")));
  });

  test("is not resumed with a module or a function that was changed", async () => {
    const refused = { code: "plan-mismatch" };
    const own = at("own.mjs");
    await writeFile(own, PLACES);
    await stopped(at("module.zarr"), own);
    await writeFile(own, PLACES.replace("1000", "2000"));
    await expect(flow(at("module.zarr"), own, { resume: true })).rejects.toMatchObject(refused);
    await stopped(at("function.zarr"), ({ data }: { data: Int32Array }) => data.map((one) => one + 1));
    const other = ({ data }: { data: Int32Array }) => data.map((one) => one + 2);
    await expect(flow(at("function.zarr"), other, { resume: true })).rejects.toMatchObject(refused);
  });
});

describe("a plan in a file", () => {
  const planned = (target: string, map: unknown) =>
    textOf(
      planFlow(source, target, { ...how, strategy: "staged", scratch: at("scratch"), arrays: changes(map) }),
    );

  test("runs its module in shares where that is allowed", async () => {
    await mkdir(at("scratch"), { recursive: true });
    const target = at("shares.zarr");
    const file = parsePlan(await planned(target, module));
    const options = { encoders: ENCODERS, trustMap: true };
    for (const [stage] of file.plan.stages.entries())
      for (const index of [0, 1]) await runShare(file, { ...options, stage, index, count: 2 });
    await finishPlan(file, { ...options, verify: "values" });
    expect(await valuesAt(target)).toEqual(expected);
  });

  test("is refused without that, with another module than it was made with, or of a function", async () => {
    const own = at("planned.mjs");
    await writeFile(own, PLACES);
    const file = parsePlan(await planned(at("refused.zarr"), own));
    await expect(openPlan(file, { encoders: ENCODERS })).rejects.toMatchObject({
      code: "invalid-option",
      message: expect.stringMatching(/runs a module/),
      details: { hint: expect.stringMatching(/--trust-map/) },
    });
    await writeFile(own, `${await readFile(own, "utf8")}// changed\n`);
    const share = { encoders: ENCODERS, trustMap: true, stage: 0, index: 0, count: 1 };
    const details = { url: expect.stringContaining("planned.mjs") };
    await expect(runShare(file, share)).rejects.toMatchObject({ code: "plan-mismatch", details });
    await expect(planned(at("function-plan.zarr"), () => [])).rejects.toMatchObject({
      code: "unsupported-operation",
      message: expect.stringMatching(/`map` that is a function/),
    });
  });
});

test("a zip takes converted values too, and what is served is converted on the way", async () => {
  await rechunk(source, at("target.zarr.zip"), { ...how, arrays: changes(module), verify: "values" });
  expect(await valuesAt(at("target.zarr.zip"))).toEqual(expected);
  const store = await asStore(source, { arrays: changes(module), chunks: [24, 4, 4], maxMemory: "1MB" });
  const { data } = await (await openArray(store)).slice().read();
  expect(Array.from(data as ArrayLike<number>)).toEqual(expected);
  await store.close?.();
});
