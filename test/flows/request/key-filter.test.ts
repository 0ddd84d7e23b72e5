import { beforeEach, describe, expect, test } from "vitest";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { pathFilter } from "../../../src/flows/request/key-filter.ts";
import { copy, type KeyFilter, open, walk } from "../../../src/index.ts";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../../../src/stores/memory.ts";
import type { GetOptions } from "../../../src/stores/store.ts";
import { expectTrueConsolidation } from "../../hierarchy/fresh-consolidation.ts";
import { keysOf } from "../../support/consume.ts";
import { makeHierarchy } from "../../support/made-hierarchy.ts";

describe("pathFilter", () => {
  test("takes everything without globs", () => {
    expect(pathFilter({})).toBeUndefined();
    expect(pathFilter({ include: [], exclude: [] })).toBeUndefined();
  });

  test("means all below what a glob means, and leaves out what is excluded", () => {
    const filter = pathFilter({ include: ["a", "*.txt"], exclude: "a/old" });
    const paths = ["a", "a/x", "a/x/0.0", "b/n.txt", "a/old", "a/old/n.txt", "b", "ab"];
    expect(paths.filter((path) => filter?.isTaken(path))).toEqual(["a", "a/x", "a/x/0.0", "b/n.txt"]);
  });
});

describe.each(["v2", "v3"] as const)("a filtered copy in %s", (zarrFormat) => {
  let source: MemoryStore;
  beforeEach(async () => {
    source = await makeHierarchy(zarrFormat, { consolidated: true });
    nameMemoryStore("filter-source", source);
    nameMemoryStore("filter-target", undefined);
  });

  async function copiedKeys(filter: KeyFilter): Promise<string[]> {
    await copy("memory:filter-source", "memory:filter-target", filter);
    return keysOf(namedMemoryStore("filter-target") as MemoryStore);
  }

  async function nodesOf(): Promise<string[]> {
    const root = await open("memory:filter-target");
    const paths: string[] = [];
    if (root.kind === "group") for await (const { path } of walk(root)) paths.push(path);
    return paths;
  }

  test("takes whole arrays with the groups that they are in, and the keys that are named", async () => {
    const keys = await copiedKeys({ include: ["2024/t2m", "*.md"] });
    expect(await nodesOf()).toEqual(["2024", "2024/t2m"]);
    expect(keys.filter((key) => /md|txt/.test(key))).toEqual([
      "2024/readme.md",
      "2024/t2m/notes.txt",
      "readme.md",
    ]);
    await expectTrueConsolidation(namedMemoryStore("filter-target") as MemoryStore);
  });

  test("leaves arrays, groups and other keys out, also from consolidated metadata", async () => {
    const keys = await copiedKeys({ exclude: ["2023", "u10", "*.txt"] });
    expect(await nodesOf()).toEqual(["2024", "2024/t2m", "empty", "time"]);
    expect(keys.filter((key) => /^2023|u10|txt/.test(key))).toEqual([]);
    const zmetadata = new TextDecoder().decode(
      await namedMemoryStore("filter-target")?.get(zarrFormat === "v2" ? ".zmetadata" : "zarr.json"),
    );
    expect(zmetadata).toContain("2024/t2m");
    expect(zmetadata).not.toMatch(/2023|u10/);
    await expectTrueConsolidation(namedMemoryStore("filter-target") as MemoryStore);
  });

  test("never takes some chunks of an array", async () => {
    const chunks = { include: zarrFormat === "v2" ? "0.*" : "c" };
    await expect(copiedKeys(chunks)).rejects.toMatchObject({ code: "invalid-option" });
    const all = await copiedKeys({ exclude: zarrFormat === "v2" ? "0.*" : "c" });
    expect(all.filter((key) => key.startsWith("2024/t2m")).length).toBeGreaterThan(4);
  });

  test("goes with a change on the way", async () => {
    await copy("memory:filter-source", "memory:filter-target", { include: "t2m", codec: "zlib:1" });
    expect(await nodesOf()).toEqual(["2023", "2023/t2m", "2024", "2024/t2m"]);
  });

  test("refuses a name to include that nothing has, and patterns of which none matches", async () => {
    const planned = async (filter: KeyFilter) => {
      const { plan, close } = await planFlow("memory:filter-source", new MemoryStore(), filter);
      await close();
      return plan.warnings;
    };
    const failure = (glob: string, hint: string) => ({
      code: "invalid-option",
      reason: `nothing matches the glob \`${glob}\` to include`,
      details: { hint },
    });
    await expect(planned({ include: ["t2m", "t3m"] })).rejects.toMatchObject(
      failure("t3m", "Did you mean `t2m`?"),
    );
    const repeat = "Repeat the flag for each name, or write `{t2m,u10}`.";
    await expect(planned({ include: "t2m,u10" })).rejects.toMatchObject(failure("t2m,u10", repeat));
    await expect(planned({ include: "*.none" })).rejects.toMatchObject({ code: "invalid-option" });
    const both = { include: "t2m", exclude: "t2m" };
    await expect(planned(both)).rejects.toMatchObject({ reason: "all that `t2m` includes is excluded" });
    expect(await planned({ include: ["2023", "*.none"] })).toMatchObject([
      { code: "nothing-matches", option: "include", message: "nothing matches the glob `*.none` to include" },
    ]);
  });

  test("warns of what is to be excluded and is not there", async () => {
    const exclude = ["t3m", "2023", "2023/t2m"];
    const { plan, close } = await planFlow("memory:filter-source", new MemoryStore(), { exclude });
    await close();
    expect(plan.warnings).toEqual([
      {
        code: "nothing-matches",
        option: "exclude",
        message: "nothing matches the glob `t3m` to exclude",
        hint: "Did you mean `t2m`?",
      },
    ]);
  });

  test("refuses a glob that makes no sense", async () => {
    await expect(copiedKeys({ include: "[a" })).rejects.toMatchObject({ code: "invalid-option" });
  });

  test("opens nothing of what is excluded, whatever is wrong with it", async () => {
    const broken = new TextEncoder().encode("{ this is no JSON");
    const documents = zarrFormat === "v2" ? [".zarray", ".zattrs"] : ["zarr.json"];
    for (const name of documents) {
      await source.set(`2023/${name}`, broken);
      await source.set(`2024/u10/${name}`, broken);
    }
    const asked: string[] = [];
    const watched = {
      ...source,
      description: "watched",
      get: (key: string, options: GetOptions) => {
        asked.push(key);
        return source.get(key, options);
      },
      size: source.size.bind(source),
      list: source.list.bind(source),
      listDirectory: source.listDirectory.bind(source),
    };
    await copy(watched, "memory:filter-target", { exclude: ["2023", "u10"] });
    expect(await nodesOf()).toEqual(["2024", "2024/t2m", "empty", "time"]);
    expect(asked.filter((key) => /2023|u10/.test(key))).toEqual([]);
    await expectTrueConsolidation(namedMemoryStore("filter-target") as MemoryStore);
    await expect(copy(watched, "memory:filter-other", {})).rejects.toMatchObject({
      code: "invalid-metadata",
    });
  });
});
