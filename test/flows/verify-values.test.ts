// @module-tag slow
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { convert, copy, type FlowEvent, open, rechunk, sliceTo } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { Store } from "../../src/stores/store.ts";
import { testFolder } from "../support/cli.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";

const verify = "values";

/** A store that gives another chunk from the second time on that `key` is read. */
function changedAfterReading(key: string, other: string, store: MemoryStore): Store {
  let reads = 0;
  return new Proxy(store, {
    get(target, property) {
      const value = Reflect.get(target, property);
      if (property !== "get") return typeof value === "function" ? value.bind(target) : value;
      const get: Store["get"] = (asked, options) =>
        target.get(asked === key && reads++ > 0 ? other : asked, options);
      return get;
    },
  });
}

describe("with `verify: values` the values of a target are compared with the source's", () => {
  const flows = {
    copy: (from: Store, to: MemoryStore | string) => copy(from, to, { verify }),
    convert: (from: Store, to: MemoryStore | string) => convert(from, to, { to: "v3", verify }),
    "rechunk into shards": (from: Store, to: MemoryStore | string) =>
      rechunk(from, to, { chunks: "2024/t2m:1,2", shards: "2024/t2m:2,4", codec: "zstd", to: "v3", verify }),
  };
  describe.each(Object.entries(flows))("%s", (_, run) => {
    test.each(["x.zarr", "x.zarr.zip"])("into %s", async (name) => {
      const report = await run(await makeHierarchy("v2"), join(await testFolder(), name));
      expect(report).toMatchObject({ keysVerified: report.keysWritten, arraysVerified: 5 });
    });

    test("into a store at its place", async () => {
      const report = await run(await makeHierarchy("v2"), new MemoryStore());
      expect(report).toMatchObject({ keysVerified: report.keysWritten, arraysVerified: 5 });
    });

    test("which differ where the source gave another chunk for them", async () => {
      const target = new MemoryStore();
      const source = changedAfterReading("2024/u10/1.0", "2023/u10/1.0", await makeHierarchy("v2"));
      await expect(run(source, target)).rejects.toMatchObject({
        code: "differs",
        reason: "6 values read back differ from the source, the first at [2, 0]",
        details: { path: "2024/u10", expected: "2038", found: "2039" },
      });
      await expect(open(target)).rejects.toMatchObject({ code: "not-found" });
    });
  });

  test("slice", async () => {
    const source = { store: await makeHierarchy("v3"), path: "2024/t2m" };
    const report = await sliceTo(source, new MemoryStore(), { slice: [[1, 4, 2], 5], verify });
    expect(report.arraysVerified).toBe(1);
  });

  test("update", async () => {
    const to = await makeHierarchy("v3", { offset: 1 });
    const report = await copy(await makeHierarchy("v3"), to, { ifExists: "update", verify });
    expect(report).toMatchObject({ keysVerified: report.keysWritten, arraysVerified: 5 });
  });

  test("and nothing is read twice where only keys are verified", async () => {
    const events: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => events.push(event);
    const report = await copy(await makeHierarchy("v3"), new MemoryStore(), { verify: "written", onEvent });
    expect(report.keysVerified).toBe(report.keysWritten);
    expect(report.arraysVerified).toBeUndefined();
    expect(events.some(({ type }) => type === "read")).toBe(false);
  });
});
