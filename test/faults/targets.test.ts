// @module-tag long
// @module-tag alone
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copy } from "../../src/flows/index.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runPlan } from "../../src/run/run-plan.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import type { TargetBuild, WritableStore } from "../../src/stores/store.ts";
import { openTargetBuild } from "../../src/targets/index.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { valuesIn } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";
import { makeArray, type Recipe } from "../support/made-array.ts";

const recipe: Recipe = { shape: [8, 6], chunks: [2, 3], order: "C", itemSize: 4, missing: 0, seed: 3 };

let folder: string;
let source: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-faults-"));
  source = join(folder, "source.zarr");
  const { store } = await makeArray(recipe);
  await givenKeys(Object.fromEntries(await valuesIn(store)), new DirectoryStore(source));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("a target that lies in its source, or holds it, is refused before anything is written", async () => {
  await mkdir(join(folder, "other"));
  await symlink(source, join(folder, "other/link.zarr"));
  const deep = join(source, "deep");
  await givenKeys({ ".zgroup": { zarr_format: 2 } }, new DirectoryStore(deep));
  const inside = [
    join(source, "inner.zarr"),
    join(source, "inner.zip"),
    source,
    join(folder, "other/link.zarr/a"),
  ];
  for (const [from, to] of [...inside.map((to) => [source, to] as const), [deep, source] as const]) {
    await expect(copy(from, to, { ifExists: "replace" }), `${from} -> ${to}`).rejects.toMatchObject({
      code: "target-inside-source",
      reason: expect.stringContaining(from === to ? "the target is the source" : "inside"),
    });
  }
  expect((await readdir(folder)).sort()).toEqual(["other", "source.zarr"]);
});

/** A store whose n-th value cannot be written. */
function failingAfter(values: number, store: WritableStore, error: Error): WritableStore {
  let left = values;
  return new Proxy(store, {
    get(target, property) {
      if (property === "setSync") return undefined;
      const value = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      if (property !== "set") return value.bind(target);
      return async (...args: Parameters<WritableStore["set"]>) => {
        if (left-- <= 0) throw error;
        await target.set(...args);
      };
    },
  });
}

/** A build whose values are read back with another bit in one of them. */
function changedOnTheWay({ reopen }: TargetBuild): Partial<TargetBuild> {
  return {
    async reopen() {
      const store = await reopen();
      const get: typeof store.get = async (key, options) => {
        const bytes = await store.get(key, options);
        if (key === "0.1" && bytes) bytes[0] = (bytes[0] ?? 0) ^ 1;
        return bytes;
      };
      return { description: store.description, get, size: (key) => store.size(key) };
    },
  };
}

const full = new ZarrflowError("no-space", "the disk is full");
const onFull = (values: number) => (build: TargetBuild) => ({
  store: failingAfter(values, build.store, full),
});
const differs = { code: "differs", exitCode: 6, details: { key: "0.1" } };
const sourceGone = async () => {
  await rm(join(source, ".zarray"));
  return {};
};

describe.each(["target.zarr", "target.zip"])("on the way to %s", (name) => {
  test.each<[string, (build: TargetBuild) => Partial<TargetBuild> | Promise<object>, object]>([
    ["a disk that is full before any value", onFull(0), { code: "no-space", exitCode: 1 }],
    ["a disk that is full after one value", onFull(1), { code: "no-space", exitCode: 1 }],
    ["a disk that is full after three values", onFull(3), { code: "no-space", exitCode: 1 }],
    ["a value that is read back otherwise than it was written", changedOnTheWay, differs],
    ["a source whose metadata are gone since the plan was made", sourceGone, { code: "source-changed" }],
  ])("%s ends the run, which leaves nothing", async (_, change, error) => {
    const planned = await planFlow(source, join(folder, name), { chunks: [8, 2] });
    // by its spec the build would be opened anew, and not tampered with
    const { spec: _spec, ...build } = await openTargetBuild(planned.plan.target.store, { ifExists: "error" });
    const tampered = { ...build, ...(await change(build)) };
    const run = runPlan(planned.plan, { source: planned.source, build: tampered, verify: true });
    await expect(run).rejects.toMatchObject(error);
    await planned.close();
    expect(await readdir(folder)).toEqual(["source.zarr"]);
  });
});
