import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, test, vi } from "vitest";
import { openKernelHeap } from "../../../src/codecs/kernels/kernels.ts";
import type { ZarrArray } from "../../../src/hierarchy/node.ts";
import { openArray, slice } from "../../../src/index.ts";
import type { Driver } from "../../../src/plan/plan.ts";
import { planSlabs } from "../../../src/plan/slabs.ts";
import { leaseBytesOf, taskAt } from "../../../src/plan/task.ts";
import { itemReader } from "../../../src/run/slabs/item-value.ts";
import { readSlabs } from "../../../src/run/slabs/read-slabs.ts";
import { slabRunner, slabTasks } from "../../../src/run/slabs/slab-tasks.ts";
import { ItemValues } from "../../../src/run/slabs/typed-values.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { BufferPool } from "../../../src/streams/buffer-pool.ts";
import { wholeSelection } from "../../../src/streams/selection.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { rejection } from "../../streams/support.ts";
import { given } from "../../support/given.ts";
import { makeArray, type Recipe } from "../../support/made-array.ts";
import { rechunked } from "../../support/recipes.ts";
import { samples } from "../../support/samples.ts";

/** Runs all tasks of the slabs of an array, each within its lease; every slab is given back before the next task. */
async function runBy(driver: Driver, recipe: Recipe, strategy: "direct" | "staged") {
  const made = await makeArray(recipe);
  const requests: string[] = [];
  const log = ({ operation, key }: { operation: string; key: string }) =>
    requests.push(`${operation} ${key}`);
  const array = await openArray(withRequestLog(made.store, log));
  const pipeline = await array.pipeline();
  const maxMemory = 200_000;
  const request = { array, pipeline, selection: wholeSelection(array.shape), maxMemory, concurrency: 4 };
  const plan = planSlabs({ ...request, strategy });
  const buffers = new BufferPool(maxMemory);
  const { signal } = new AbortController();
  const scratch = new MemoryStore();
  const planned = slabTasks(array, plan, 4);
  const tasks = { ...planned, execution: { ...planned.execution, driver } };
  const reading = { array, pipeline, plan, tasks, buffers, signal, scratch };
  const slabs: Buffer[] = [];
  const run = slabRunner(reading, {
    async offer({ data }, number, give) {
      slabs[number] = Buffer.from(data.bytes);
      give();
    },
  });
  for (const [stage, count] of tasks.stages.entries()) {
    for (let index = 0; index < count; index++) {
      const task = taskAt(tasks, stage, index);
      let peak = 0;
      const onRead = () => {
        peak = Math.max(peak, buffers.taken);
      };
      await run(task, { onRead }, signal);
      expect(peak).toBeLessThanOrEqual(leaseBytesOf(task));
      expect(buffers.taken).toBe(0);
    }
  }
  expect(Buffer.concat(slabs).equals(made.bytes)).toBe(true);
  return requests;
}

test("both drivers make the slabs of an array, with the same requests", async () => {
  await fc.assert(
    fc.asyncProperty(rechunked, fc.constantFrom("direct", "staged"), async ({ recipe }, strategy) => {
      const requests = await runBy("streams", recipe, strategy);
      expect(await runBy("loop", recipe, strategy)).toEqual(requests);
    }),
    { numRuns: samples(80) },
  );
});

const folder = temporaryFolder();
afterEach(() => vi.restoreAllMocks());

const values = Int32Array.from({ length: 40 * 30 * 20 }, (_, i) => i * 7919);

function written(): Promise<string> {
  const array = { shape: [40, 30, 20], dataType: "int32", chunks: [1, 15, 20], fillValue: 3, values };
  return given({ at: folder.next(), ...array });
}

async function digestOf(source: string | ZarrArray, options = {}): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of slice(source, {}, options).bytes()) hash.update(bytes);
  return hash.digest("hex");
}

/** An array of 80 chunks, and the calls of its store that block. */
async function watched() {
  const store = new DirectoryStore(await written());
  const array = await openArray(store);
  return { array, store, getSync: vi.spyOn(store as Required<DirectoryStore>, "getSync") };
}

/** Goes on by so many milliseconds at each call. */
function clock() {
  let now = 0;
  return (milliseconds: number) => {
    now += milliseconds;
    return now;
  };
}

const expected = createHash("sha256").update(values).digest("hex");

describe("slabs of files", () => {
  it("are read by calls that block", async () => {
    const { array, getSync } = await watched();
    vi.spyOn(performance, "now").mockReturnValue(0);
    expect(await digestOf(array)).toBe(expected);
    expect(getSync.mock.calls.filter(([key]) => key.startsWith("c/"))).toHaveLength(80);
  });

  it("are asked for several at one time when calls that block take long", async () => {
    const { array, getSync } = await watched();
    const tick = clock();
    vi.spyOn(performance, "now").mockImplementation(() => tick(60));
    expect(await digestOf(array)).toBe(expected);
    expect(getSync.mock.calls.length).toBeGreaterThan(3);
    expect(getSync.mock.calls.length).toBeLessThan(20);
  });

  it("are read by calls that block again when these answer at once", async () => {
    const { array, store, getSync } = await watched();
    const read = store.getSync?.bind(store);
    const tick = clock();
    vi.spyOn(performance, "now").mockImplementation(() => tick(0.9));
    getSync.mockImplementationOnce((...value) => {
      tick(60);
      return read?.(...value);
    });
    expect(await digestOf(array)).toBe(expected);
    expect(getSync.mock.calls.length).toBeGreaterThan(10);
    expect(getSync.mock.calls.length).toBeLessThan(70);
  });

  it("lack what is missing", async () => {
    const path = await written();
    await rm(join(path, "c/7"), { recursive: true });
    const lacking = values.slice().fill(3, 7 * 600, 8 * 600);
    expect(await digestOf(path)).toBe(createHash("sha256").update(lacking).digest("hex"));
  });

  it("are not read once who wants them has given up", async () => {
    const path = await written();
    const stop = new AbortController();
    const slabs = slice(path, {}, { signal: stop.signal, maxMemory: 60_000 }).slabs();
    expect((await slabs.next()).done).toBe(false);
    stop.abort(new Error("enough"));
    expect(await rejection(slabs.next().then(() => slabs.next()))).toMatchObject({
      code: "aborted",
      cause: new Error("enough"),
    });
  });
});

it("gives back what it took of a heap that others have open, too", async () => {
  const large = { shape: [40, 512, 1024], chunks: [1, 512, 1024], dataType: "uint8", values: () => 7 };
  const path = await given({ at: join(folder.path, "large.zarr"), ...large });
  const array = await openArray(path);
  const open = openKernelHeap();
  const firstPlace = () => {
    const buffer = open?.heap.allocate(1);
    if (buffer) open?.heap.release(buffer);
    return buffer?.byteOffset;
  };
  const before = firstPlace();
  const slabs = readSlabs(array, wholeSelection(array.shape), { maxMemory: 8e6, concurrency: 2, threads: 1 });
  const { value } = await slabs.next();
  expect(value?.data.bytes.buffer === open?.heap.memory).toBe(true);
  for await (const _ of slabs);
  expect(firstPlace()).toBe(before);
  open?.close();
});

test("items that no typed array holds have an index, as those of arrays", () => {
  const letters = new ItemValues(3, (i) => "abc".charAt(i));
  expect([letters[0], letters[2], letters[3], letters.length]).toEqual(["a", "c", undefined, 3]);
  expect([0, -1, 3, -4].map((i) => letters.at(i))).toEqual(["a", "c", undefined, undefined]);
  expect([...letters]).toEqual(["a", "b", "c"]);
  expect([...letters.subarray(1)]).toEqual(["b", "c"]);
  expect(letters.subarray(1)[0]).toBe("b");
  expect(letters).toBeInstanceOf(ItemValues);
});

test.each([
  ["float32", Float32Array.of(1.5, 2), 1.5],
  ["int64", BigInt64Array.of(5n, 6n), 5n],
  ["bool", [true, false], 1],
  ["string", ["hello", "b"], "hello"],
  ["U4", ["ab", "c"], "ab"],
  ["datetime64[ns]", BigInt64Array.of(7n, 8n), 7n],
] as const)("the first item of %s has the type that `is` says", async (dataType, values, first) => {
  const store = await given({ shape: [2], chunks: [2], dataType, values: values as never });
  const array = await openArray(store);
  expect(array.is(dataType)).toBe(true);
  expect(array.is(dataType === "float32" ? "float64" : "float32")).toBe(false);
  const { data } = await slice(array).read();
  expect(data[0]).toBe(first);
  for await (const chunk of slice(array).chunks()) expect(chunk.data[0]).toBe(first);
});

test("objects are read with every digit, and with numbers that are not finite", () => {
  const viewOf = (text: string) => new DataView(new TextEncoder().encode(text).buffer);
  expect(itemReader({ kind: "object" })(viewOf('{"a":[NaN,18446744073709551615,1.0]}'))).toEqual({
    a: [Number.NaN, 2n ** 64n - 1n, 1],
  });
  expect(itemReader({ kind: "object" })(viewOf(""))).toBeNull();
});
