import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { EventQueue } from "../../../src/flows/jobs/simulation.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { type Plan, simulatePlan } from "../../../src/index.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { runHere } from "../../support/cli-here.ts";
import { given } from "../../support/given.ts";

const FAR = { latency: 0.03, bytesPerSecond: 1e9 };
const CALM = { ...FAR, stragglers: 0, failuresPerHour: 0 };
const place = temporaryFolder();
let plan: Plan;
let staged: Plan;
let copied: Plan;

beforeAll(async () => {
  const folder = place.path;
  const from = join(folder, "large.zarr");
  const grid = { shape: [1e5, 1e5, 1e5], chunks: [100, 100, 100], dataType: "float32" };
  await given({ at: from, ...grid, zarrFormat: "v2", codec: "zstd:1", values: null });
  const profile = { ...FAR, basis: "stated" } as const;
  const far = { source: profile, target: profile, scratch: profile };
  const planOf = async (options: Parameters<typeof planFlow>[2] = {}) => {
    const planned = await planFlow(from, to, { threads: 1, concurrency: 64, ...options });
    return planned.planWith(far).finally(planned.close);
  };
  const to = join(folder, "out.zarr");
  plan = await planOf({ chunks: [200, 200, 50] });
  staged = await planOf({ chunks: [-1, 20, 20], strategy: "staged", maxMemory: "2GB" });
  copied = await planOf();
});

test("one worker that nothing disturbs takes what the plan predicts", () => {
  const still = { workers: 1, latency: 0, bytesPerSecond: 1e15, stragglers: 0, failuresPerHour: 0 };
  const profile = { latency: 1e-9, bytesPerSecond: 1e15, basis: "stated" } as const;
  const near = { ...plan, profiles: { source: profile, target: profile } };
  const predicted = plan.jobs[0]?.cost?.seconds ?? 0;
  const { stages, requests } = simulatePlan(near, still);
  expect(predicted).toBeGreaterThan(stages[0]?.seconds ?? 0);
  expect(stages[0]?.seconds).toBeGreaterThan(predicted / 2);
  expect(requests.gets).toBe(plan.totals.chunksRead + 6);
  expect(stages).toHaveLength(1);
});

test("the same options give the same, and another seed other workers that are lost", () => {
  const run = (seed: number) => simulatePlan(plan, { ...FAR, workers: 500, seed });
  expect(run(7)).toEqual(run(7));
  expect(run(7).seconds).not.toBe(run(8).seconds);
});

describe("more workers", () => {
  test("take as much less time, until the prefixes give no more", () => {
    const at = (workers: number, prefixes = 1) => simulatePlan(plan, { ...CALM, workers, prefixes });
    expect(at(1).stages[0]?.seconds).toBeCloseTo(100 * (at(100).stages[0]?.seconds ?? 0), -4);
    const { stages, requests } = at(10_000);
    const least = Math.max(plan.totals.chunksRead / 5500, plan.totals.chunksWritten / 3500);
    expect(stages[0]?.seconds).toBeGreaterThan(least);
    expect(stages[0]?.seconds).toBeLessThan(1.1 * least);
    expect(requests.rejected).toBeGreaterThan(0.01 * requests.gets);
    expect(at(10_000, 10).seconds).toBeLessThan(at(10_000).seconds / 3);
    expect(at(10_000, 1000).requests.rejected).toBe(0);
  });

  test("that share cores take as long as their work needs on these", () => {
    const near = { ...CALM, workers: 100, latency: 0, bytesPerSecond: 1e15, prefixes: 1e9 };
    const stageOf = (cores?: number) =>
      simulatePlan(plan, { ...near, ...(cores !== undefined && { cores }) }).stages[0]?.seconds ?? 0;
    expect(stageOf(50) / stageOf()).toBeCloseTo(2, 3);
    expect(stageOf(1) / stageOf()).toBeCloseTo(100, 3);
    expect(stageOf(200)).toBe(stageOf());
  });

  test("that wait leave cores to others", () => {
    const waiting = { ...CALM, workers: 100, bytesPerSecond: 1e6, prefixes: 1e9 };
    const { seconds, requests } = simulatePlan(plan, waiting);
    expect(simulatePlan(plan, { ...waiting, cores: 10 }).seconds).toBe(seconds);
    expect(simulatePlan(plan, { ...waiting, cores: 0.1 }).seconds).toBeGreaterThan(seconds);
    const busy = simulatePlan(plan, { ...CALM, workers: 10_000, cores: 1 });
    expect(busy.requests).toMatchObject({ gets: requests.gets + 9900 * 6, rejected: 0 });
  });

  test("of which some are slow are waited for", () => {
    const { skew, seconds } = simulatePlan(plan, { ...CALM, workers: 100, stragglers: 0.05 });
    expect(skew).toBeGreaterThan(2);
    const even = simulatePlan(plan, { ...CALM, workers: 100, prefixes: 100 });
    expect(seconds).toBeGreaterThan(2.5 * even.seconds * 0.9);
  });

  test("that are lost start again, and repeat what they had at work", () => {
    const lossy = { ...CALM, workers: 100, failuresPerHour: 0.2 };
    const { failures, tasksRepeated, seconds, workerSeconds } = simulatePlan(plan, lossy);
    const expected = (workerSeconds / 3600) * 0.2;
    expect(failures).toBeGreaterThan(0.9 * expected);
    expect(failures).toBeLessThan(1.1 * expected);
    expect(tasksRepeated).toBe(failures * plan.execution.tasksAtOnce);
    expect(seconds).toBeGreaterThan(simulatePlan(plan, { ...CALM, workers: 100 }).seconds);
  });
});

test("stages run one after the other, and their scratch objects are paid for", () => {
  const many = { ...CALM, workers: 1000 };
  const { stages, scratchBytes, cost, seconds, finishSeconds } = simulatePlan(staged, many);
  expect(stages.map(({ tasks }) => tasks)).toEqual(staged.stages);
  const sum = stages.reduce((total, stage) => total + stage.seconds, finishSeconds);
  expect(seconds).toBeCloseTo(sum, 6);
  expect(scratchBytes).toBe(staged.totals.scratchBytes);
  expect(cost.scratch).toBeCloseTo((scratchBytes / 1e9) * 0.023 * (seconds / (30 * 86400)), 3);
  const free = simulatePlan(staged, { ...many, prices: { gets: 0, puts: 0 } });
  expect(free.cost.requests).toBe(0);
});

test("keys that are copied without tasks are dealt as well", () => {
  const { requests, stages } = simulatePlan(copied, { ...CALM, workers: 1000 });
  expect(stages[0]?.tasks).toBe(0);
  expect(requests.puts).toBeGreaterThan(1e9);
  expect(stages[0]?.seconds).toBeGreaterThan(1e9 / 3500);
});

test("what cannot be is rejected", () => {
  const refused = expect.objectContaining({ code: "invalid-option" });
  const counts = [0, 1.5, 1e6].map((workers) => ({ workers }));
  for (const wrong of [...counts, { latency: -1 }, { bytesPerSecond: 0 }, { cores: 0 }])
    expect(() => simulatePlan(plan, { ...FAR, workers: 10, ...wrong })).toThrow(refused);
});

test("the command shows it, for people and as JSON", async () => {
  const args = ["plan", "rechunk", "large.zarr", "out.zarr", "--chunks", "200,200,50", "--simulate"];
  const far = ["--workers", "1000", "--request-ms", "30", "--bandwidth", "1GB/s", "--io", "64"];
  const text = await runHere(place.path, ...args, ...far);
  expect(text).toMatchObject({ code: 0, stderr: "" });
  expect(text.stdout).toMatch(/time .* on 1,000 workers\n.*tasks .*throttled by the limit of a prefix/s);
  const json = await runHere(place.path, ...args, ...far, "--json");
  expect(JSON.parse(json.stdout)).toEqual(simulatePlan(plan, { ...FAR, workers: 1000 }));
  const shared = await runHere(place.path, ...args, ...far, "--cores", "8", "--json");
  expect(JSON.parse(shared.stdout)).toEqual(simulatePlan(plan, { ...FAR, workers: 1000, cores: 8 }));
  const wrong = await runHere(place.path, ...args, "--workers", "many");
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("--workers") });
});

test("events come in the order of their times", () => {
  const queue = new EventQueue();
  const times = Array.from({ length: 500 }, (_, i) => (i * 7919) % 503);
  for (const at of times) queue.add(at, at);
  const taken = times.map(() => queue.take());
  expect(taken).toEqual(times.toSorted((a, b) => a - b));
  expect(queue.take()).toBeUndefined();
  expect(queue.next).toBe(Number.POSITIVE_INFINITY);
});
