import { describe, expect, it } from "vitest";
import { expectedSize, memoryForTasks } from "../../../src/flows/plan/expected-size.ts";
import type { ArrayJob, GridSide, Plan } from "../../../src/flows/plan/plan.ts";
import type { StoreSpec } from "../../../src/stores/store.ts";

const MIB = 2 ** 20;
const directory: StoreSpec = { kind: "directory", path: "/x.zarr" };
const s3: StoreSpec = { kind: "s3", bucket: "bucket", prefix: "" };
const zipIn = (store: StoreSpec): StoreSpec => ({ kind: "zip-value", store, key: "x.zip" });

/** An array of so many chunks of a mebibyte. */
function sideOf(chunks: number): { target: GridSide } {
  return { target: { shape: [chunks], chunkShape: [1], decodedSize: MIB } as unknown as GridSide };
}

function left(source: StoreSpec, target: StoreSpec, chunks: number): number {
  return memoryForTasks({
    source: { store: source, path: "" },
    target: { store: target, path: "" },
    jobs: [sideOf(chunks) as ArrayJob],
    budget: { maxMemory: 256 * MIB } as Plan["budget"],
  });
}

describe("the expected size of a target", () => {
  it("is that of all its chunks, decoded", () => {
    expect(expectedSize([sideOf(100), sideOf(7)], 256 * MIB)).toBe(107 * MIB);
  });

  it("is no more than parts of an eighth of the budget hold: a vast array may be nearly empty", () => {
    expect(expectedSize([sideOf(1e12)], 256 * MIB)).toBe(32 * MIB * 10_000);
  });
});

describe("the memory that is left to tasks", () => {
  it("is all of it, but for a zip inside another store", () => {
    for (const store of [directory, s3, { kind: "zip", path: "/x.zip" } as const]) {
      expect(left(store, store, 10)).toBe(256 * MIB);
    }
    expect(left(zipIn(s3), directory, 10)).toBe(254 * MIB);
    expect(left(directory, zipIn({ kind: "memory", name: "x" }), 10)).toBe(256 * MIB);
  });

  it("has no room for the parts of a zip in S3, sized for 10,000 parts, as many as an eighth of it holds", () => {
    expect(left(directory, zipIn(s3), 10)).toBe((256 - 4 * 8) * MIB);
    expect(left(directory, zipIn(s3), 99_000)).toBe((256 - 2 * 11) * MIB);
    expect(left(zipIn(s3), zipIn(s3), 1e12)).toBe((256 - 2 - 36) * MIB);
  });
});
