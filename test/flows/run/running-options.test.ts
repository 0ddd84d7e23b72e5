import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { estimateCopy } from "../../../src/flows/keys/estimate-copy.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { copy, type FlowEvent, openArray, plan, slice } from "../../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../../src/stores/memory.ts";
import { emitRetry } from "../../../src/stores/remote/retry-events.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";
import { given } from "../../support/given.ts";
import { makeHierarchy } from "../../support/made-hierarchy.ts";

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
    await (await plan(SOURCE, TARGET, { ifExists: "replace" })).run();
    expect(await valuesAtTarget()).toEqual([1, 1, 1, 1]);
  });

  test("fails at a target that is there, updates and skips as planned", async () => {
    for (const options of [{}, { ifExists: "error" }] as const) {
      const planned = await plan(SOURCE, TARGET, options);
      await expect(planned.run()).rejects.toMatchObject({ code: "target-exists" });
    }
    const skipped = await (await plan(SOURCE, TARGET, { ifExists: "skip" })).run();
    expect(skipped.skipped).toBe(true);
    await (await plan(SOURCE, TARGET, { ifExists: "update" })).run();
    expect(await valuesAtTarget()).toEqual([1, 1, 1, 1]);
  });

  test("tells its events to whoever listened to planning, and to whoever listens to the run, once each", async () => {
    const planning: FlowEvent["type"][] = [];
    const running: FlowEvent["type"][] = [];
    const planned = await plan(SOURCE, new MemoryStore(), { onEvent: ({ type }) => planning.push(type) });
    await planned.run({ onEvent: ({ type }) => running.push(type) });
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
      const planned = await plan(SOURCE, new MemoryStore(), { signal: ofPlan.signal });
      controller.abort(new Error(which));
      await expect(planned.run({ signal: ofRun.signal })).rejects.toMatchObject({
        code: "aborted",
        cause: { message: which },
      });
    }
  });

  test("takes options of the run beside it", async () => {
    const planned = await plan(SOURCE, new MemoryStore(), { chunks: { x: 4 }, maxMemory: "1MB" });
    expect((await planned.run({ verify: true })).keysVerified).toBe(2);
  });
});

describe("options of the run", () => {
  test.each([
    ["ifExists", { ifExists: "replace" }],
    ["maxMemory", { maxMemory: "1MB" }],
    ["threads", { threads: 3 }],
    ["chunks", { chunks: { x: 4 } }],
    ["concurrency", { concurrency: 1 }],
    ["writeEmpty", { writeEmpty: true }],
    ["headers", { headers: { "x-key": "hunter2" } }],
  ])("are not those of the plan: %s", async (name, options) => {
    const planned = await plan(SOURCE, new MemoryStore(), { chunks: { x: 4 }, maxMemory: "1MB" });
    const running = planned.run(options as object);
    await expect(running).rejects.toMatchObject({ code: "invalid-option" });
    await expect(running).rejects.toThrow(`\`${name}\` is an option of plan, not of run`);
  });

  test("that are unknown are refused, with the one that is near, and the plan is closed", async () => {
    const planned = await plan(SOURCE, new MemoryStore());
    await expect(planned.run({ verfy: true } as object)).rejects.toMatchObject({
      code: "invalid-option",
      details: { hint: "Did you mean `verify`?" },
    });
    await expect(planned.run()).rejects.toThrow("the plan has run, or is closed");
  });
});

/** A source of which every call was made twice. */
async function nameSlowSource(): Promise<void> {
  const store = await makeHierarchy("v3");
  const retry = { store: "m", attempt: 1, wait: 1, error: new ZarrflowError("transient", "busy") };
  const slow = new Proxy(store, {
    get(target, property) {
      const value = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      if (property !== "get" && property !== "list") return value.bind(target);
      return (key: string, ...rest: unknown[]) => {
        emitRetry({ ...retry, operation: property, key });
        return value.call(target, key, ...rest);
      };
    },
  });
  nameMemoryStore("running-source", slow);
}

test("requests that are made again are reported while a flow is planned, estimated and run, and not after", async () => {
  await nameSlowSource();
  let events: FlowEvent["type"][] = [];
  const onEvent = ({ type }: FlowEvent) => events.push(type);
  const planned = await planFlow(SOURCE, TARGET, { onEvent });
  expect(new Set(events)).toEqual(new Set(["retry"]));
  events = [];
  await estimateCopy(planned, { onEvent });
  expect(new Set(events)).toEqual(new Set(["retry"]));
  events = [];
  await planFlow(SOURCE, TARGET);
  await estimateCopy(planned);
  expect(events).toEqual([]);
  nameMemoryStore("running-target", undefined);
  await copy(SOURCE, TARGET, { onEvent });
  expect(events.slice(0, events.indexOf("plan"))).toContain("retry");
  expect(events.at(-1)).toBe("done");
});
