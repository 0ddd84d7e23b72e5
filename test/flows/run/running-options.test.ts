import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  copy,
  type FlowEvent,
  openArray,
  planCopy,
  planRechunk,
  runFlow,
  slice,
} from "../../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../../src/stores/memory.ts";
import { given } from "../../support/given.ts";

const SOURCE = "memory:running-source";
const TARGET = "memory:running-target";

const arrayOf = (value: number) =>
  given({ shape: [4], chunks: [2], dataType: "int8", dimensionNames: ["x"], values: () => value });

const valuesAtTarget = async () => [...(await slice(await openArray(TARGET)).read()).data];

beforeEach(async () => {
  nameMemoryStore("running-source", await arrayOf(1));
  nameMemoryStore("running-target", await arrayOf(2));
});

afterEach(() => {
  nameMemoryStore("running-source", undefined);
  nameMemoryStore("running-target", undefined);
});

describe("what was planned is what runs", () => {
  test("replaces a target if that was planned", async () => {
    await runFlow(await planCopy(SOURCE, TARGET, { ifExists: "replace" }));
    expect(await valuesAtTarget()).toEqual([1, 1, 1, 1]);
  });

  test.each([undefined, "error"] as const)("fails at a target that is there: %s", async (ifExists) => {
    const planned = await planCopy(SOURCE, TARGET, ifExists ? { ifExists } : {});
    await expect(runFlow(planned)).rejects.toMatchObject({ code: "target-exists" });
  });

  test("updates and skips as planned", async () => {
    const skipped = await runFlow(await planCopy(SOURCE, TARGET, { ifExists: "skip" }));
    expect(skipped.skipped).toBe(true);
    await runFlow(await planCopy(SOURCE, TARGET, { ifExists: "update" }));
    expect(await valuesAtTarget()).toEqual([1, 1, 1, 1]);
  });

  test("tells its events to whoever listened to planning, and to whoever listens to the run, once each", async () => {
    const planning: FlowEvent["type"][] = [];
    const running: FlowEvent["type"][] = [];
    const planned = await planCopy(SOURCE, new MemoryStore(), { onEvent: ({ type }) => planning.push(type) });
    await runFlow(planned, { onEvent: ({ type }) => running.push(type) });
    expect(running).toContain("done");
    expect(planning.filter((type) => type !== "retry")).toEqual(running.filter((type) => type !== "retry"));
    const both: FlowEvent["type"][] = [];
    await copy(SOURCE, new MemoryStore(), { onEvent: ({ type }) => both.push(type) });
    expect(both.filter((type) => type === "done")).toHaveLength(1);
  });

  test("ends with the signal of planning as with that of the run", async () => {
    for (const which of ["planning", "running"]) {
      const controller = new AbortController();
      const quiet = new AbortController();
      const [ofPlan, ofRun] = which === "planning" ? [controller, quiet] : [quiet, controller];
      const planned = await planCopy(SOURCE, new MemoryStore(), { signal: ofPlan.signal });
      controller.abort(new Error(which));
      await expect(runFlow(planned, { signal: ofRun.signal })).rejects.toMatchObject({
        code: "aborted",
        cause: { message: which },
      });
    }
  });

  test("takes options of the run beside it", async () => {
    const planned = await planRechunk(SOURCE, new MemoryStore(), { chunks: { x: 4 }, maxMemory: "1MB" });
    expect((await runFlow(planned, { verify: true })).keysVerified).toBe(2);
  });
});

describe("options of the run", () => {
  test.each([
    ["ifExists", { ifExists: "replace" }],
    ["maxMemory", { maxMemory: "2MB" }],
    ["threads", { threads: 3 }],
    ["chunks", { chunks: { x: 1 } }],
    ["concurrency", { concurrency: 1 }],
  ])("that contradict the plan are refused: %s", async (name, options) => {
    const planned = await planRechunk(SOURCE, new MemoryStore(), { chunks: { x: 4 }, maxMemory: "1MB" });
    const running = runFlow(planned, options as object);
    await expect(running).rejects.toMatchObject({ code: "invalid-option" });
    await expect(running).rejects.toThrow(`\`${name}\` contradicts the plan`);
  });

  test("that are secret are not shown", async () => {
    const planned = await planRechunk(SOURCE, new MemoryStore(), { chunks: { x: 4 } });
    const running = runFlow(planned, { query: "token=hunter2", headers: { "x-key": "hunter2" } } as object);
    const error = await running.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "invalid-option" });
    expect(JSON.stringify(error) + String(error)).not.toContain("hunter2");
  });

  test("may repeat the plan", async () => {
    const options = { chunks: { x: 4 }, maxMemory: "1MB" };
    const planned = await planRechunk(SOURCE, new MemoryStore(), options);
    await runFlow(planned, { ...options } as object);
  });

  test("that are unknown are refused, with the one that is near, and the source is closed", async () => {
    const planned = await planCopy(SOURCE, new MemoryStore());
    let isClosed = false;
    const close = async () => {
      isClosed = true;
      await planned.close();
    };
    await expect(runFlow({ ...planned, close }, { verfy: true } as object)).rejects.toMatchObject({
      code: "invalid-option",
      details: { hint: "Did you mean `verify`?" },
    });
    expect(isClosed).toBe(true);
  });
});
