import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { estimateCopy } from "../../src/flows/estimate-copy.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { copy, type FlowEvent, openArray, plan, slice } from "../../src/index.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import { publishDocuments } from "../../src/run/documents.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { emitRetry } from "../../src/stores/remote/retry-requests.ts";
import type { StoreOptions } from "../../src/stores/store.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { given } from "../support/given.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";

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
    ["writeEmptyChunks", { writeEmptyChunks: true }],
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
    await expect(planned.run()).rejects.toThrow("the plan has already run or been closed");
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

/** A store whose writes end in a later turn, and that tells how they lay in time. */
class SlowStore extends MemoryStore {
  readonly ended: string[] = [];
  /** For each key, those that were written before it was begun. */
  readonly before = new Map<string, readonly string[]>();
  most = 0;
  #running = 0;

  override async set(key: string, bytes: Uint8Array, options?: StoreOptions): Promise<void> {
    this.before.set(key, [...this.ended]);
    this.most = Math.max(this.most, ++this.#running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    await super.set(key, bytes, options);
    this.#running--;
    this.ended.push(key);
  }
}

const { hierarchy: v2 } = formatNamed("v2").layout("");

async function publish(
  keys: readonly string[],
  { concurrency = 4, store = new SlowStore(), hierarchy = v2 } = {},
) {
  const written: string[] = [];
  const documents = new Map(keys.map((key) => [key, new TextEncoder().encode(key)]));
  const onWritten = (key: string) => written.push(key);
  await publishDocuments(documents, store, { concurrency, hierarchy, onWritten });
  expect(written.sort()).toEqual([...keys].sort());
  return store;
}

describe("publishing documents", () => {
  test("writes arrays side by side, never more than asked for at a time", async () => {
    const arrays = Array.from({ length: 20 }, (_, i) => [`a${i}/.zattrs`, `a${i}/.zarray`]).flat();
    const { most } = await publish([...arrays, ".zgroup"], { concurrency: 4 });
    expect(most).toBe(4);
  });

  test("writes attributes first, a node's documents in their order, groups after what is in them, what gathers all last", async () => {
    const keys = "g/a/.zattrs g/a/.zarray b/.zarray g/.zattrs g/.zgroup .zgroup .zmetadata".split(" ");
    const { before } = await publish(keys, { concurrency: 16 });
    expect(before.get("g/a/.zarray")).toEqual(expect.arrayContaining(["g/a/.zattrs", "g/.zattrs"]));
    expect(before.get("g/.zgroup")).toEqual(expect.arrayContaining(["g/a/.zarray", "g/.zattrs"]));
    expect(before.get(".zgroup")).toEqual(expect.arrayContaining(keys.slice(0, 5)));
    expect(before.get(".zmetadata")).toHaveLength(6);
  });

  test("writes what a draft's nodes share before them", async () => {
    const layoutOf = (path: string) => formatNamed("v3-draft-2019").layout(path);
    const { hierarchy } = layoutOf("");
    const keys = ["zarr.json", ...["a", "b"].flatMap((path) => layoutOf(path).documentKeys)];
    const { before } = await publish(keys, { hierarchy });
    expect(before.get("zarr.json")).toEqual([]);
    for (const key of keys.slice(1)) expect(before.get(key)).toContain("zarr.json");
  });

  test("ends with the first failure, and writes no document after it", async () => {
    const failure = new ZarrflowError("no-space", "full");
    const store = new SlowStore();
    const set = store.set.bind(store);
    store.set = (key, ...rest) => (key === "b/.zarray" ? Promise.reject(failure) : set(key, ...rest));
    await expect(publish(["a/.zarray", "b/.zarray", ".zgroup"], { store })).rejects.toBe(failure);
    expect(store.ended).not.toContain(".zgroup");
  });
});
