import { describe, expect, it } from "vitest";
import { taskNumber } from "../../src/cli/commands/run.ts";
import { convert, EXIT_CODES, isZarrflowError, open, rechunk } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { failureOf } from "./rows.ts";
import { hex, nodeIn, opens, storeOf } from "./stores.ts";
import { bytes as bytesOfV2, ZARRAY } from "./v2/kit.ts";
import { bytes } from "./v3-final/kit.ts";

it("a task without a count of tasks is an error of its own", async () => {
  const error = await failureOf(() => taskNumber({ index: "1" }, {}));
  expect(error).toMatchObject({ code: "task-count-missing", exitCode: EXIT_CODES["task-count-missing"] });
});

describe("what errors of one code have among their details", () => {
  const chunk = hex("01020304");

  it("budget-too-small: the smallest budget that is enough", async () => {
    const rechunked = async (maxMemory: number) =>
      rechunk(await nodeIn(bytes(4, {}, chunk)), new MemoryStore(), { chunks: [2], maxMemory });
    const error = await failureOf(() => rechunked(1));
    if (!isZarrflowError(error, "budget-too-small")) throw error;
    const { neededBytes } = error.details;
    await expect(rechunked(neededBytes - 1)).rejects.toMatchObject({ details: { neededBytes } });
    expect((await rechunked(neededBytes)).keysWritten).toBeGreaterThan(0);
  });

  it("loss-refused: the pointers that allowLoss takes", async () => {
    const converted = async (allowLoss: readonly string[]) => {
      const source = bytes(4, { ext: { must_understand: false } }, chunk);
      return convert(await nodeIn(source), new MemoryStore(), { to: "v2", allowLoss });
    };
    const error = await failureOf(() => converted([]));
    if (!isZarrflowError(error, "loss-refused")) throw error;
    expect(error.details.pointers).toContain("/ext");
    expect((await converted(error.details.pointers)).keysWritten).toBeGreaterThan(0);
  });
});

describe("what errors carry", () => {
  it.each([
    ["K", '"K"'],
    ["x".repeat(200), `"${"x".repeat(78)}…`],
  ])("the store, and the value, shortened to 80 characters", async (order, value) => {
    const error = await failureOf(() => nodeIn({ "a/.zarray": { ...ZARRAY, order } }, "a"));
    const place = { format: "v2", path: "a", key: "a/.zarray", pointer: "/order", store: "memory" };
    expect(error).toMatchObject({ code: "invalid-metadata", details: { ...place, value } });
  });

  it("the setting of a codec", async () => {
    const error = await failureOf(() =>
      opens(bytesOfV2(2, { compressor: { id: "crc32", location: "top" } })),
    );
    const setting = { pointer: "/compressor/location", codec: "crc32", setting: "location", value: "top" };
    expect(error).toMatchObject({ code: "invalid-metadata", details: setting });
  });

  it("a missing node lists the keys that were tried", async () => {
    const error = await failureOf(async () => open({ store: await storeOf({}), path: "a" }));
    expect(error.code).toBe("not-found");
    for (const key of ["a/zarr.json", "a/.zarray", "a/.zgroup", "a/meta"]) {
      expect(error.details.found).toContain(key);
    }
  });
});
