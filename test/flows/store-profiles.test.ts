// @module-tag slow
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rechunk } from "../../src/flows/copy.ts";
import type { FlowEvent } from "../../src/flows/events.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import type { PlanOptions } from "../../src/flows/request/flow-options.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { given } from "../support/given.ts";
import { withoutPauses } from "../support/no-pauses.ts";

const folder = temporaryFolder();
withoutPauses();
let server: ValueServer;

beforeAll(async () => {
  const store = await given({
    shape: [256, 32, 32],
    chunks: [1, 32, 32],
    dataType: "int32",
    zarrFormat: "v2",
    values: (i) => (i * 2654435761) % 1000,
  });
  const values = new Map<string, Uint8Array>();
  for await (const { key } of store.list("")) values.set(key, (await store.get(key)) ?? new Uint8Array());
  server = await serveValues(values);
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
    const message = expect.stringContaining(
      "`target=1ms` is about target, and none of these is over a network",
    );
    expect(warnings).toContainEqual(expect.objectContaining({ option: "storeProfile", message }));
  });

  it.each(["30", "30ms,", "fast", "sauce=30ms", "0ms", "0MB/s", "-1ms", ""])(
    "cannot be %j",
    async (storeProfile) => {
      await expect(planned({ storeProfile })).rejects.toMatchObject({ code: "invalid-option" });
    },
  );

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
  const stopping = new AbortController();
  const onEvent = (event: FlowEvent) => {
    if (event.type === "task-end") stopping.abort(new Error("enough"));
  };
  await expect(rechunk(server.url, target, { ...near, stop: stopping.signal, onEvent })).rejects.toThrow(
    "the signal was aborted",
  );
  const plans: FlowEvent[] = [];
  const report = await rechunk(server.url, target, {
    ...far,
    resume: true,
    verify: "values",
    onEvent: (event) => event.type === "plan" && plans.push(event),
  });
  expect(report.tasksResumed).toBeGreaterThan(0);
  expect(plans.at(-1)).toMatchObject({ plan: { profiles: { source: { latency: 0.001 } } } });
  expect(report.arraysVerified).toBe(1);
});
