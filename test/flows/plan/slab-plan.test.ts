import { describe, expect, it } from "vitest";
import { planSlice } from "../../../src/flows/plan-slice.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { given } from "../../support/given.ts";

const MIB = 2 ** 20;

/** A store whose calls may block, as those of files may. */
class BlockingStore extends MemoryStore {
  getSync() {
    return undefined;
  }
}

async function planned(
  chunks: number[],
  option: Parameters<typeof planSlice>[1],
  { concurrency = 4, store = new BlockingStore() }: { concurrency?: number; store?: MemoryStore } = {},
) {
  await given({ at: store, shape: [512, 256, 256], dataType: "float32", chunks, values: null });
  return planSlice(await openArray(store), option, { maxMemory: 256 * MIB, concurrency });
}

function bytes(shape: readonly number[]): number {
  return 4 * shape.reduce((product, n) => product * n, 1);
}

describe("slabs", () => {
  it("are no larger than 1 MiB where smaller ones read no chunk more often", async () => {
    const plan = await planned(
      [1, 256, 256],
      [
        [null, null],
        [64, 128],
        [64, 128],
      ],
    );
    expect(plan).toMatchObject({ slabShape: [64, 64, 64], slabs: 8, chunksRead: 512 });
    expect(bytes(plan.slabShape)).toBe(MIB);
  });

  it("hold more chunks than are read at one time", async () => {
    const plan = await planned([1, 256, 256], [], { concurrency: 16 });
    expect(plan).toMatchObject({ slabShape: [32, 256, 256], chunksRead: 512 });
  });

  it("are whole rows of chunks where any part of them would read these again", async () => {
    const plan = await planned([128, 64, 64], []);
    expect(plan).toMatchObject({
      slabShape: [128, 256, 256],
      slabs: 4,
      chunksRead: 64,
      readAmplification: 1,
    });
  });

  it("are as large as fits where none is cut between chunks", async () => {
    const plan = await planned([10, 256, 256], [[3, 503]]);
    expect(plan).toMatchObject({ slabs: 1, slabsAtOnce: 1, chunksRead: 51 });
  });

  it("are several at one time, each of a part of the chunks in flight, where a store is waited for", async () => {
    const far = { concurrency: 64, store: new MemoryStore() };
    const plan = await planned(
      [1, 256, 256],
      [
        [0, 512],
        [64, 128],
        [64, 128],
      ],
      far,
    );
    expect(plan).toMatchObject({ slabShape: [16, 64, 64], slabs: 32, slabsAtOnce: 5, chunksRead: 512 });
    expect(plan.job.readAhead).toBe(16);
  });

  it("fit the budget together with the one that is taken", async () => {
    for (const concurrency of [1, 7, 64, 256]) {
      const plan = await planned([1, 256, 256], [], { concurrency, store: new MemoryStore() });
      const { leaseBytes } = plan.job;
      expect(plan.slabsAtOnce * leaseBytes + bytes(plan.slabShape)).toBeLessThanOrEqual(256 * MIB);
      expect(plan.predictedPeak).toBeGreaterThanOrEqual(plan.slabsAtOnce * leaseBytes);
    }
  });
});
