// @module-tag slow
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rechunk } from "../../src/flows/copy.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import type { PlanOptions } from "../../src/flows/request/flow-options.ts";
import type { FlowEvent } from "../../src/run/events.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { stoppedAfter } from "../support/stopped-run.ts";

const folder = temporaryFolder();
withoutPauses();
let server: ValueServer;

beforeAll(async () => {
  const values = (i: number) => (i * 2654435761) % 1000;
  const rows = { shape: [256, 32, 32], chunks: [1, 32, 32], dataType: "int32", values };
  const store = await given({ ...rows, zarrFormat: "v2" });
  server = await serveValues(await valuesIn(store));
});

afterAll(() => server.close());

const TO = { chunks: [256, 4, 4], maxMemory: 1_000_000, threads: 1 } as const;

async function planned(options: PlanOptions = {}) {
  const { plan, close } = await planFlow(server.url, join(folder.path, "t.zarr"), { ...TO, ...options });
  await close();
  return plan;
}

describe("the profile of a server", () => {
  it("is measured by its first answers, and belongs to the plan", async () => {
    const { profiles, totals } = await planned();
    expect(profiles).toEqual({
      source: { latency: expect.any(Number), bytesPerSecond: 100e6, basis: "measured" },
    });
    expect(profiles?.source?.latency).toBeGreaterThan(0);
    expect(totals.predictedSeconds).toBeGreaterThan(0);
  });

  it.each([
    ["30ms", { latency: 0.03, bytesPerSecond: 100e6, basis: "stated" }],
    ["source=2.5ms, 25MB/s", { latency: 0.0025, bytesPerSecond: 25e6, basis: "stated" }],
    [["30ms", "source=20ms"], { latency: 0.02, bytesPerSecond: 100e6, basis: "stated" }],
  ])("is what is stated: %j", async (storeProfile, source) => {
    expect((await planned({ storeProfile })).profiles).toEqual({ source });
  });

  it("of a store that is on this machine is a warning", async () => {
    const { warnings } = await planned({ storeProfile: ["30ms", "target=1ms"] });
    const text = "`target=1ms` is about target, none of which is on a network";
    const message = expect.stringContaining(text);
    expect(warnings).toContainEqual(expect.objectContaining({ option: "storeProfile", message }));
  });

  it("cannot be a word, of no unit, or nothing", async () => {
    for (const storeProfile of ["30", "30ms,", "fast", "sauce=30ms", "0ms", "0MB/s", "-1ms", ""])
      await expect(planned({ storeProfile }), storeProfile).rejects.toMatchObject({ code: "invalid-option" });
  });

  it("lets the prediction grow with the time of a request, and with the bytes of a second", async () => {
    const seconds = async (storeProfile: string) =>
      (await planned({ storeProfile })).totals.predictedSeconds ?? 0;
    expect(await seconds("100ms")).toBeGreaterThan(2 * (await seconds("10ms")));
    expect(await seconds("10ms,100kB/s")).toBeGreaterThan(2 * (await seconds("10ms,1MB/s")));
  });

  it("decides whether scratch objects are worth their distance", async () => {
    const strategy = async (storeProfile: string) => {
      const { jobs } = await planned({ scratch: "s3://elsewhere/scratch", storeProfile });
      return jobs[0]?.strategy;
    };
    expect(await strategy("scratch=1ms,1GB/s")).toBe("staged");
    expect(await strategy("scratch=2000ms,100kB/s")).toBe("direct");
  });
});

it("a run is resumed with the profile that it began with", async () => {
  const target = join(folder.path, "resumed.zarr");
  const near = { ...TO, storeProfile: "1ms" };
  const far = { ...TO, storeProfile: "400ms" };
  expect((await planned(near)).jobs[0]?.window).not.toEqual((await planned(far)).jobs[0]?.window);
  await stoppedAfter(1, (stop) => rechunk(server.url, target, { ...near, ...stop }));
  const plans: FlowEvent[] = [];
  const onEvent = (event: FlowEvent) => event.type === "plan" && plans.push(event);
  const report = await rechunk(server.url, target, { ...far, resume: true, verify: "values", onEvent });
  expect(report.tasksResumed).toBeGreaterThan(0);
  expect(plans.at(-1)).toMatchObject({ plan: { profiles: { source: { latency: 0.001 } } } });
  expect(report.arraysVerified).toBe(1);
});
