import { describe, expect, it } from "vitest";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import { ByteBudget } from "../../src/streams/byte-budget.ts";
import { mapConcurrent } from "../../src/streams/map-concurrent.ts";
import { readChunks } from "../../src/streams/read-chunks.ts";
import { streamFrom, WritableStream } from "../../src/streams/web.ts";
import { writeChunks } from "../../src/streams/write-chunks.ts";
import { CHUNK_BYTES, expectedValues, runFlow, SHAPE, SOURCE_CHUNK, sourceStore, tasks } from "./flow.ts";
import {
  failOnUnhandledRejections,
  placeIn,
  refsOf,
  rejection,
  settle,
  TestStore,
  untilAborted,
} from "./support.ts";

failOnUnhandledRejections();

describe("memory of the stages together", () => {
  it("stays within what is admitted, however slow the sink is, and is all given back", async () => {
    const readAhead = 2;
    const targetsPerTask = 2;
    // Reads and decodes in flight, the window decoded or encoded, and one more while a chunk is encoded.
    const leaseBytes = (readAhead * 2 + targetsPerTask + 1) * CHUNK_BYTES;
    const budget = new ByteBudget(3 * leaseBytes);
    const buffers = new BufferPool(budget.limit);
    const from = sourceStore();
    const to = new TestStore();
    let takenAtMost = 0;
    to.beforeSet = async () => {
      await settle(6);
      takenAtMost = Math.max(takenAtMost, buffers.taken);
      expect(buffers.taken).toBeLessThanOrEqual(budget.leased);
    };
    const run = async (task: ReturnType<typeof tasks>[number], { signal }: { signal: AbortSignal }) => {
      const lease = await budget.acquire(leaseBytes, signal);
      try {
        await runFlow({ from, to, ...task, buffers, readAhead, signal });
      } finally {
        lease.release();
      }
    };
    await streamFrom(tasks())
      .pipeThrough(mapConcurrent(run, { concurrency: 100 }))
      .pipeTo(new WritableStream());

    expect(Object.fromEntries(to.values)).toEqual(expectedValues());
    expect(budget.peak).toBe(budget.limit);
    expect(buffers.peak).toBeLessThanOrEqual(budget.limit);
    expect(buffers.peak).toBeGreaterThan(leaseBytes);
    expect(takenAtMost).toBeGreaterThan(0);
    expect({ leased: budget.leased, taken: buffers.taken }).toEqual({ leased: 0, taken: 0 });
  });

  it("is bounded by the reads in flight alone where chunks pass untouched to a sink that never ends", async () => {
    const buffers = new BufferPool(2 ** 20);
    const budget = new ByteBudget(5 * CHUNK_BYTES);
    const from = sourceStore();
    const to = new TestStore();
    to.beforeSet = (_, signal) => untilAborted(signal);
    const abort = new AbortController();
    const read = readChunks(placeIn(from, "from"), refsOf(SHAPE, SOURCE_CHUNK), {
      inFlight: { budget, bytesPerChunk: CHUNK_BYTES },
      buffers,
    });
    const piped = read.pipeTo(writeChunks(placeIn(to, "from"), { buffers }), { signal: abort.signal });
    const ended = rejection(piped);
    await settle(20);
    expect({ taken: buffers.taken, leased: budget.leased }).toEqual({
      taken: budget.limit,
      leased: budget.limit,
    });
    abort.abort("stop");
    expect(await ended).toBe("stop");
    expect({ taken: buffers.taken, leased: budget.leased }).toEqual({ taken: 0, leased: 0 });
  });
});
