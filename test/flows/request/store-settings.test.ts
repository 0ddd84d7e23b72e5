import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { concurrencyOf, usualConcurrency } from "../../../src/flows/request/store-settings.ts";
import { planText } from "../../../src/flows/text/plan.ts";
import type { ConcurrencyOption } from "../../../src/hierarchy/read-options.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import type { StoreSpec } from "../../../src/stores/store.ts";
import { BUCKET, type S3Server } from "../../stores/s3-server.ts";
import { makeArray } from "../../support/made-array.ts";
import { serveReachableBucket } from "../../support/s3-environment.ts";

const NEAR: StoreSpec = { kind: "directory", path: "a.zarr" };
const FAR: StoreSpec = { kind: "http", url: "https://example.org/a.zarr" };

let server: S3Server;
beforeAll(async () => {
  server = await serveReachableBucket();
});
afterAll(() => server.close());

describe("requests in flight", () => {
  it("are what is stated, else 16, or as many as at the start where a store is a server", () => {
    expect(usualConcurrency(7, FAR)).toBe(7);
    expect(usualConcurrency(undefined, NEAR, NEAR)).toBe(16);
    expect(usualConcurrency("auto", NEAR, FAR)).toBe(64);
  });

  it("may be found up to 256, as far as a sixteenth of the budget holds their chunks, 64 in any case", () => {
    const far = { stores: [NEAR, FAR], maxMemory: 256e6, concurrency: undefined };
    expect(concurrencyOf({ ...far, chunkBytes: 4096 })).toEqual({ concurrency: 256, isAdaptive: true });
    expect(concurrencyOf({ ...far, chunkBytes: 131_072 })).toEqual({ concurrency: 122, isAdaptive: true });
    expect(concurrencyOf({ ...far, chunkBytes: 8e6 })).toEqual({ concurrency: 64, isAdaptive: true });
    expect(concurrencyOf({ ...far, chunkBytes: undefined })).toEqual({ concurrency: 64, isAdaptive: true });
    expect(concurrencyOf({ ...far, chunkBytes: 4096, concurrency: 300 })).toEqual({ concurrency: 300 });
    expect(concurrencyOf({ ...far, chunkBytes: 4096, stores: [NEAR] })).toEqual({ concurrency: 16 });
  });

  const ROWS = { shape: [512, 8], chunks: [1, 8], order: "C", itemSize: 4, missing: 0, seed: 3 } as const;

  /** The plan of a copy to a bucket that changes codecs. */
  async function planned(concurrency: ConcurrencyOption, storeProfile = "10ms"): Promise<Plan> {
    const { store } = await makeArray(ROWS);
    const options = { concurrency, codec: "zstd:1", storeProfile } as const;
    const { plan, close } = await planFlow(store, `s3://${BUCKET}/a.zarr`, options);
    await close();
    return plan;
  }

  it("do not change the tasks of a plan, nor what these lease", async () => {
    const [found, stated] = [await planned("auto"), await planned(64)];
    expect(found.jobs).toEqual(stated.jobs);
    expect(found.stages).toEqual(stated.stages);
    const most = "requests in flight adapted to each server, at most 256";
    expect(planText(found)).toContain(most);
    expect(planText(stated)).toContain("64 requests in flight per store");
  });

  it("are planned to be as many as can be made while one is waited for", async () => {
    const readAhead = async (profile: string) => (await planned("auto", profile)).jobs[0]?.readAhead ?? 0;
    expect(await readAhead("100ms")).toBeGreaterThan(await readAhead("10ms"));
  });
});
