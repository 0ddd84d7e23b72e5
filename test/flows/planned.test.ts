import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { PLANNING_OPTIONS } from "../../src/flows/request/flow-options.ts";
import { READ_OPTIONS, type ReadOptions } from "../../src/hierarchy/read-options.ts";
import { openArray, type PlanOptions, plan, type RunOptions, readPlan, slice } from "../../src/index.ts";
import { RUN_OPTIONS } from "../../src/run/run-options.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { asyncDispose } from "../../src/util/async-dispose.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { runHere } from "../support/cli-here.ts";
import { given } from "../support/given.ts";

const folder = temporaryFolder();
let source: string;

beforeAll(async () => {
  const array = { shape: [8, 6], chunks: [2, 3], dataType: "int16", dimensionNames: ["y", "x"] };
  source = await given({ at: join(folder.path, "source.zarr"), ...array });
});

const target = (name: string) => join(folder.path, name);
const valuesOf = async (place: string) => [...(await slice(await openArray(place)).read()).data];

describe("plan", () => {
  test.each([
    ["copy", {}],
    ["copy", { codec: "gzip" }],
    ["rechunk", { chunks: { y: 4 } }],
    ["rechunk", { shards: { y: 4, x: 6 }, to: "v3" }],
    ["convert", { to: "v3" }],
    ["slice", { slice: { y: [0, 2] }, chunks: { y: 1 }, to: "v3" }],
  ] as const)("finds that a %s follows from %j", async (operation, options) => {
    const planned = await plan(source, new MemoryStore(), options);
    expect(planned.plan.operation).toBe(operation);
    await planned.close();
  });

  test("writes nothing until it runs, and then what was planned", async () => {
    const planned = await plan(source, target("rows.zarr"), { chunks: { y: 1 }, maxMemory: "1MB" });
    await expect(openArray(target("rows.zarr"))).rejects.toMatchObject({ code: "not-found" });
    const { tasks } = await planned.run({ verify: "values" });
    expect(tasks).toBe(planned.plan.totals.tasks);
    expect((await openArray(target("rows.zarr"))).chunkShape).toEqual([1, 3]);
    expect(await valuesOf(target("rows.zarr"))).toEqual(await valuesOf(source));
  });

  test("runs once, and is closed by `await using`", async () => {
    const planned = await plan(source, new MemoryStore());
    await planned.run();
    await expect(planned.run()).rejects.toMatchObject({ code: "invalid-option" });
    const unused = await plan(source, new MemoryStore());
    await unused[asyncDispose]();
    await unused.close();
    await expect(unused.run()).rejects.toThrow("closed");
  });

  test("explains itself as the command does", async () => {
    const planned = await plan(source, target("explained.zarr"), { chunks: { y: 8 }, threads: 1 });
    const text = await planned.explain();
    await planned.close();
    const line = ["rechunk", source, target("explained.zarr"), "--chunks", "y=8", "--threads", "1"];
    const { stdout } = await runHere(folder.path, ...line, "--dry-run", "--explain");
    const isOfBoth = (one: string) => !one.startsWith("copied unchanged");
    expect(text.split("\n")).toEqual(stdout.split("\n").filter(isOfBoth));
  });

  test("is, as JSON, the same file as that of the command, but for its id", async () => {
    const planned = await plan(source, target("file.zarr"), { chunks: { y: 8 }, threads: 1 });
    const file = JSON.parse(JSON.stringify(planned)) as Record<string, unknown>;
    expect(JSON.parse(JSON.stringify(planned))).toEqual(file);
    await planned.close();
    const output = target("plan.json");
    const words = ["rechunk", source, target("file.zarr"), "--chunks", "y=8", "--output", output];
    await runHere(folder.path, "plan", ...words);
    const ofCommand = JSON.parse(await readFile(output, "utf8")) as object;
    expect({ ...ofCommand, id: "", checksum: "" }).toEqual({ ...file, id: "", checksum: "" });
  });

  test("refuses to be JSON where no other process could run it", async () => {
    const planned = await plan(source, new MemoryStore());
    expect(() => JSON.stringify(planned)).toThrow("several processes cannot write to this target together");
    await planned.close();
  });
});

describe("a plan that was stored", () => {
  const stored = async (name: string) => {
    const planned = await plan(source, target(name), {
      chunks: { y: 1 },
      writeEmptyChunks: true,
      threads: 1,
    });
    const json = JSON.stringify(planned);
    await planned.close();
    return json;
  };

  test("runs as a whole", async () => {
    const planned = await readPlan(await stored("whole.zarr"));
    expect(JSON.parse(JSON.stringify(planned))).toEqual(JSON.parse(JSON.stringify(planned)));
    expect((await planned.run({ verify: true })).tasks).toBe(planned.plan.totals.tasks);
    expect(await valuesOf(target("whole.zarr"))).toEqual(await valuesOf(source));
  });

  test("runs in shares, which another process finishes", async () => {
    const json = await stored("shares.zarr");
    for (const index of [0, 1]) await (await readPlan(json)).runShare({ index, count: 2 });
    const planned = await readPlan(JSON.parse(json));
    await planned.finish({ verify: true });
    expect(await valuesOf(target("shares.zarr"))).toEqual(await valuesOf(source));
  });

  test("runs the modules that it names only where these are trusted", async () => {
    const module = target("negative.mjs");
    await writeFile(module, "export default ({ data }) => data.map((value) => -value);\n");
    const arrays = { "*": { map: pathToFileURL(module) } };
    const planned = await plan(source, target("mapped.zarr"), { arrays, threads: 1 });
    const json = JSON.stringify(planned);
    await planned.close();
    await expect((await readPlan(json)).run()).rejects.toThrow("module");
    await (await readPlan(json, { trustMap: true })).run();
    const before = await valuesOf(source);
    expect((await valuesOf(target("mapped.zarr"))).map(Number)).toEqual(before.map((one) => 0 - Number(one)));
  });

  test("takes no options of planning", async () => {
    const planned = await readPlan(await stored("options.zarr"));
    const share = planned.runShare({ index: 0, count: 1 }, { maxMemory: 1 } as object);
    await expect(share).rejects.toThrow("unknown option");
    await expect(planned.run({ maxMemory: 1 } as object)).rejects.toThrow("an option of plan");
  });
});

describe("options of reading, planning and running", () => {
  test("have no member in common that a call would ignore", () => {
    expectTypeOf<keyof ReadOptions & keyof PlanOptions>().toEqualTypeOf<never>();
    expectTypeOf<keyof PlanOptions & keyof RunOptions>().toEqualTypeOf<never>();
    expectTypeOf<keyof ReadOptions & keyof RunOptions>().toEqualTypeOf<"signal">();
  });

  test("nor have the tables that are looked at", () => {
    const common = Object.keys(PLANNING_OPTIONS).filter((name) => Object.hasOwn(RUN_OPTIONS, name));
    expect(common.sort()).toEqual(["onEvent", "signal"]);
    expect(Object.keys(PLANNING_OPTIONS)).toEqual(expect.arrayContaining(Object.keys(READ_OPTIONS)));
  });
});
