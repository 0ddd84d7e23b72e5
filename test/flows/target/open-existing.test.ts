// @module-tag slow
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { runFlow } from "../../../src/flows/run-flow.ts";
import { copy, open, openGroup, setAttributes, walk } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { type MemoryStore, namedMemoryStore, nameMemoryStore } from "../../../src/stores/memory.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";
import { expectTrueConsolidation } from "../../hierarchy/fresh-consolidation.ts";
import { testFolder } from "../../support/cli.ts";
import { all, contentsOf, digestsOf } from "../../support/consume.ts";
import { makeHierarchy } from "../../support/made-hierarchy.ts";

const FROM = "memory:addition-source";
const TO = "memory:addition-target";
const skip = { ifExists: "skip" } as const;

const nodesOf = async (url: string) => (await all(walk(await openGroup(url)))).map(({ path }) => path);

describe.each(["v2", "v3"] as const)("nodes that are added to a target, %s", (zarrFormat) => {
  let target: MemoryStore;
  const chunk = zarrFormat === "v2" ? "0.0" : "c/0/0";
  const document = zarrFormat === "v2" ? ".zarray" : "zarr.json";
  beforeEach(async () => {
    nameMemoryStore("addition-source", await makeHierarchy(zarrFormat, { consolidated: true, offset: 100 }));
    nameMemoryStore("addition-old", await makeHierarchy(zarrFormat, { consolidated: true }));
    await copy("memory:addition-old", TO, { exclude: ["2024/u10", "time", "*.md"] });
    target = namedMemoryStore("addition-target") as MemoryStore;
  });
  afterEach(() => {
    for (const name of ["source", "old", "target"]) nameMemoryStore(`addition-${name}`, undefined);
  });

  test("come with all that is theirs; those that are there stay as they are", async () => {
    await setAttributes(await open(`${TO}/2023`), { mine: true });
    const before = await digestsOf(TO);
    const report = await copy(FROM, TO, { ...skip, verify: true });
    expect(report.skipped).toBeUndefined();
    const source = await digestsOf(FROM);
    expect(await digestsOf(TO)).toEqual({ ...source, ...before });
    expect(before["2023/t2m"]).not.toBe(source["2023/t2m"]);
    expect((await open(`${TO}/2023`)).attributes).toMatchObject({ mine: true });
    expect(await target.size("readme.md")).toBeUndefined();
    await expectTrueConsolidation(target);
    expect(await nodesOf(TO)).toEqual(await nodesOf(FROM));
    // and there is nothing left to be added
    expect(await copy(FROM, TO, skip)).toMatchObject({ skipped: true, keysWritten: 0 });
  });

  test("take no chunks that lay at their place", async () => {
    await target.set(`2024/u10/${chunk.replace(/0$/, "1")}`, new Uint8Array(12));
    const source = namedMemoryStore("addition-source") as MemoryStore;
    await source.delete(`2024/u10/${chunk.replace(/0$/, "1")}`);
    await copy(FROM, TO, skip);
    expect((await digestsOf(TO))["2024/u10"]).toBe((await digestsOf(FROM))["2024/u10"]);
  });

  test("may be changed on the way", async () => {
    const before = await digestsOf(TO);
    await copy(FROM, TO, { ...skip, chunks: "2024/u10:3,3" });
    expect(await digestsOf(TO)).toEqual({ ...(await digestsOf(FROM)), ...before });
    const added = await open(`${TO}/2024/u10`);
    expect(added.kind === "array" && added.chunkShape).toEqual([3, 3]);
  });

  test("are not there where the copy fails", async () => {
    const before = await contentsOf(target);
    const planned = await planFlow(FROM, TO, skip);
    let left = 3;
    const failing = new Proxy(target, {
      get(store, property) {
        if (property === "setSync") return undefined;
        const value = Reflect.get(store, property);
        if (property !== "set") return value?.bind?.(store) ?? value;
        return async (...args: Parameters<MemoryStore["set"]>) => {
          if (left-- <= 0) throw new ZarrflowError("no-space", "full");
          await store.set(...args);
        };
      },
    });
    nameMemoryStore("addition-target", failing);
    await expect(runFlow(planned)).rejects.toMatchObject({ code: "no-space" });
    nameMemoryStore("addition-target", target);
    expect(await contentsOf(target)).toEqual(before);
  });

  test("are refused where they came into being meanwhile, and below an array", async () => {
    const planned = await planFlow(FROM, TO, skip);
    await copy(FROM, TO, skip);
    await expect(runFlow(planned)).rejects.toMatchObject({ code: "target-exists" });
    expect(await target.size(`2024/u10/${document}`)).toBeGreaterThan(0);
    nameMemoryStore("addition-target", undefined);
    await copy(`${FROM}/time`, TO);
    const group = copy(FROM, TO, skip);
    await expect(group).rejects.toMatchObject({ code: "target-exists", details: { path: "" } });
  });

  test("go into a directory; a zip that lacks some is refused, one that has them all is left", async () => {
    const folder = await testFolder();
    const [directory, zip] = [join(folder, "x.zarr"), join(folder, "x.zip")];
    for (const to of [directory, zip]) await copy(FROM, to, { exclude: "time" });
    await copy(FROM, directory, skip);
    expect(await digestsOf(directory)).toEqual(await digestsOf(FROM));
    await expectTrueConsolidation(new DirectoryStore(directory));
    await expect(copy(FROM, zip, skip)).rejects.toMatchObject({ code: "unsupported-operation" });
    expect(await copy(FROM, zip, { ...skip, exclude: "time" })).toMatchObject({ skipped: true });
  });
});
