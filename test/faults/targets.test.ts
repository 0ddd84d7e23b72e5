// @module-tag long
// @module-tag alone
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copy } from "../../src/flows/index.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runPlan } from "../../src/flows/run/run-plan.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import type { TargetBuild, WritableStore } from "../../src/stores/store.ts";
import { openTargetBuild } from "../../src/stores/target.ts";
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

describe("a target that lies in its source, or holds it", () => {
  test("is refused before anything is written", async () => {
    await mkdir(join(folder, "other"));
    await symlink(source, join(folder, "other/link.zarr"));
    const pairs = [
      [source, join(source, "inner.zarr")],
      [source, join(source, "inner.zip")],
      [source, source],
      [source, join(folder, "other/link.zarr/inner.zarr")],
      [join(source, "deep"), source],
    ] as const;
    await new DirectoryStore(join(source, "deep")).set(
      ".zgroup",
      new TextEncoder().encode('{"zarr_format": 2}'),
    );
    for (const [from, to] of pairs) {
      const run = copy(from, to, { ifExists: "replace" });
      await expect(run, `${from} -> ${to}`).rejects.toMatchObject({
        code: "target-inside-source",
        reason: expect.stringContaining(from === to ? "the target is the source" : "inside"),
      });
    }
    expect((await readdir(folder)).sort()).toEqual(["other", "source.zarr"]);
  });
});

describe.each(["target.zarr", "target.zip"])("a failure on the way to %s", (name) => {
  /** The build, with a store that does something else before its n-th value. */
  async function tampered(
    planned: {
      readonly plan: { readonly target: { readonly store: Parameters<typeof openTargetBuild>[0] } };
    },
    change: (build: TargetBuild) => Partial<TargetBuild>,
  ): Promise<TargetBuild> {
    // by its spec it would be opened anew, and not tampered with
    const { spec: _, ...build } = await openTargetBuild(planned.plan.target.store, { ifExists: "error" });
    return { ...build, ...change(build) };
  }

  function failingAfter(values: number, store: WritableStore, error: Error): WritableStore {
    let left = values;
    return new Proxy(store, {
      get(target, property) {
        if (property === "setSync") return undefined;
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

  test.each([0, 1, 3])("a disk that is full after %i values leaves nothing", async (values) => {
    const planned = await planFlow(source, join(folder, name), { chunks: [8, 2] });
    const full = new ZarrflowError("no-space", "the disk is full");
    const build = await tampered(planned, ({ store }) => ({ store: failingAfter(values, store, full) }));
    await expect(runPlan(planned.plan, { source: planned.source, build })).rejects.toBe(full);
    expect(full.exitCode).toBe(1);
    await planned.close();
    expect(await readdir(folder)).toEqual(["source.zarr"]);
  });

  test("what is read back otherwise than it was written differs, and is not published", async () => {
    const planned = await planFlow(source, join(folder, name));
    const build = await tampered(planned, ({ reopen }) => ({
      async reopen() {
        const store = await reopen();
        const get: typeof store.get = async (key, options) => {
          const bytes = await store.get(key, options);
          if (key === "1.1" && bytes) bytes[0] = (bytes[0] ?? 0) ^ 1;
          return bytes;
        };
        return { description: store.description, get, size: (key) => store.size(key) };
      },
    }));
    const run = runPlan(planned.plan, { source: planned.source, build, verify: true });
    await expect(run).rejects.toMatchObject({ code: "differs", exitCode: 6, details: { key: "1.1" } });
    await planned.close();
    expect(await readdir(folder)).toEqual(["source.zarr"]);
  });

  test("a source whose metadata are gone since the plan was made has changed", async () => {
    const planned = await planFlow(source, join(folder, name));
    await rm(join(source, ".zarray"));
    const build = await openTargetBuild(planned.plan.target.store, { ifExists: "error" });
    const run = runPlan(planned.plan, { source: planned.source, build });
    await expect(run).rejects.toMatchObject({ code: "source-changed" });
    await planned.close();
    expect(await readdir(folder)).toEqual(["source.zarr"]);
  });
});
