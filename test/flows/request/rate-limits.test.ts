import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { copy, openArray, rechunk } from "../../../src/index.ts";
import { nameMemoryStore } from "../../../src/stores/memory.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { given } from "../../support/given.ts";

// time passes as fast as those who wait for it
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  vi.setTimerTickMode("nextTimerAsync");
});
afterEach(() => void vi.useRealTimers());

const CHUNKS = 25;
const CHUNK_BYTES = 20_000;

/** An array of chunks that are no smaller when they are encoded, and its requests. */
async function makeArray() {
  const shape = [CHUNKS * CHUNK_BYTES];
  const grid = { shape, chunks: [CHUNK_BYTES] };
  const store = await given({ ...grid, dataType: "uint8", codec: "none", values: () => 1 });
  let requests = 0;
  const logged = withRequestLog(store, () => requests++);
  return { source: logged, requests: () => requests };
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
    const seconds = await secondsOf(() => copy(source, "memory:paced", options));
    expect(requests()).toBeGreaterThan(CHUNKS);
    expect(seconds).toBeGreaterThan((requests() - 1) / 60 - 0.02);
    nameMemoryStore("paced", undefined);
  });

  it("is no more bytes a second than asked for, of each store", async () => {
    const { source } = await makeArray();
    const options = { bytesPerSecond: "1MB", chunks: [2 * CHUNK_BYTES] };
    const seconds = await secondsOf(() => rechunk(source, "memory:paced", options));
    expect(seconds).toBeGreaterThan(0.4);
    expect(seconds).toBeLessThan(10);
    nameMemoryStore("paced", undefined);
  });

  it("holds for a node that is open already", async () => {
    const { source, requests } = await makeArray();
    const node = await openArray(source);
    const before = requests();
    const seconds = await secondsOf(() => copy(node, "memory:paced", { requestsPerSecond: 60 }));
    expect(requests() - before).toBeGreaterThan(CHUNKS);
    expect(seconds).toBeGreaterThan(CHUNKS / 60 - 0.02);
    nameMemoryStore("paced", undefined);
  });

  it.each([{ requestsPerSecond: 0 }, { bytesPerSecond: "none" }, { bytesPerSecond: 0 }])(
    "%o is refused",
    async (options) => {
      const { source } = await makeArray();
      await expect(copy(source, "memory:paced", options)).rejects.toMatchObject({ code: "invalid-option" });
    },
  );
});

describe("the format that a target's URL names", () => {
  it("is the one that is written", async () => {
    const { source } = await makeArray();
    await copy(source, "memory:tail|zarr2:");
    expect((await openArray("memory:tail")).layout.zarrFormat).toBe("v2");
    nameMemoryStore("tail", undefined);
  });

  it("is refused where another is asked for", async () => {
    const { source } = await makeArray();
    await expect(copy(source, "memory:tail|zarr2:", { to: "v3" })).rejects.toMatchObject({
      code: "invalid-option",
      details: { expected: "v3", found: "v2" },
    });
  });
});
