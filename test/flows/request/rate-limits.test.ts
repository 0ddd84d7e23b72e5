import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { copy, openArray, rechunk } from "../../../src/index.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { given } from "../../support/given.ts";
import { memoryTargets } from "../../support/memory-targets.ts";

// time passes as fast as those who wait for it
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  vi.setTimerTickMode("nextTimerAsync");
});
afterEach(() => void vi.useRealTimers());

const targetOf = memoryTargets();
const CHUNKS = 25;
const CHUNK_BYTES = 20_000;

/** An array of chunks that are no smaller when they are encoded, and its requests. */
async function makeArray() {
  const grid = { shape: [CHUNKS * CHUNK_BYTES], chunks: [CHUNK_BYTES] };
  const store = await given({ ...grid, dataType: "uint8", codec: "none", values: () => 1 });
  let requests = 0;
  return { source: withRequestLog(store, () => requests++), requests: () => requests };
}

async function secondsOf(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return (performance.now() - started) / 1000;
}

describe("the pace of a flow", () => {
  it("is no more requests a second than asked for, in planning and in running", async () => {
    const { source, requests } = await makeArray();
    const options = { requestsPerSecond: 60, ifExists: "replace" } as const;
    const seconds = await secondsOf(() => copy(source, targetOf("paced"), options));
    expect(requests()).toBeGreaterThan(CHUNKS);
    expect(seconds).toBeGreaterThan((requests() - 1) / 60 - 0.02);
  });

  it("is no more bytes a second than asked for, of each store", async () => {
    const { source } = await makeArray();
    const options = { bytesPerSecond: "1MB", chunks: [2 * CHUNK_BYTES] };
    const seconds = await secondsOf(() => rechunk(source, targetOf("paced"), options));
    expect(seconds).toBeGreaterThan(0.4);
    expect(seconds).toBeLessThan(10);
  });

  it("holds for a node that is open already", async () => {
    const { source, requests } = await makeArray();
    const node = await openArray(source);
    const before = requests();
    const seconds = await secondsOf(() => copy(node, targetOf("paced"), { requestsPerSecond: 60 }));
    expect(requests() - before).toBeGreaterThan(CHUNKS);
    expect(seconds).toBeGreaterThan(CHUNKS / 60 - 0.02);
  });

  it("is none that makes no sense", async () => {
    const { source } = await makeArray();
    for (const options of [{ requestsPerSecond: 0 }, { bytesPerSecond: "none" }, { bytesPerSecond: 0 }])
      await expect(copy(source, targetOf("paced"), options)).rejects.toMatchObject({
        code: "invalid-option",
      });
  });
});

it("the format that a target's URL names is the one that is written, and no other may be asked for", async () => {
  const { source } = await makeArray();
  const target = `${targetOf("tail")}|zarr2:`;
  const refused = { code: "invalid-option", details: { expected: "v3", found: "v2" } };
  await expect(copy(source, target, { to: "v3" })).rejects.toMatchObject(refused);
  await copy(source, target);
  expect((await openArray("memory:tail")).layout.zarrFormat).toBe("v2");
});
