import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { copy, type FlowEvent, type KeyFilter, open, openGroup, walk } from "../../src/index.ts";
import { pathFilter } from "../../src/plan/key-filter.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { expectTrueConsolidation } from "../hierarchy/fresh-consolidation.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all, contentsOf, keysOf, valuesIn } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";

test("a filter of paths takes all below what a glob means, but what is excluded, and everything without globs", () => {
  expect(pathFilter({})).toBeUndefined();
  expect(pathFilter({ include: [], exclude: [] })).toBeUndefined();
  const filter = pathFilter({ include: ["a", "*.txt"], exclude: "a/old" });
  const paths = ["a", "a/x", "a/x/0.0", "b/n.txt", "a/old", "a/old/n.txt", "b", "ab"];
  expect(paths.filter((path) => filter?.isTaken(path))).toEqual(["a", "a/x", "a/x/0.0", "b/n.txt"]);
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
    return keysOf(target());
  }

  async function warningsOf(filter: KeyFilter) {
    const { plan, close } = await planFlow("memory:filter-source", new MemoryStore(), filter);
    await close();
    return plan.warnings;
  }

  const target = () => namedMemoryStore("filter-target") as MemoryStore;
  const nodesOf = async () => (await all(walk(await openGroup(target())))).map(({ path }) => path);

  test("takes whole arrays with the groups that they are in, and the keys that are named", async () => {
    const keys = await copiedKeys({ include: ["2024/t2m", "*.md"] });
    expect(await nodesOf()).toEqual(["2024", "2024/t2m"]);
    const named = ["2024/readme.md", "2024/t2m/notes.txt", "readme.md"];
    expect(keys.filter((key) => /md|txt/.test(key))).toEqual(named);
    await expectTrueConsolidation(target());
  });

  test("leaves arrays, groups and other keys out, also from consolidated metadata", async () => {
    const keys = await copiedKeys({ exclude: ["2023", "u10", "*.txt"] });
    expect(await nodesOf()).toEqual(["2024", "2024/t2m", "empty", "time"]);
    expect(keys.filter((key) => /^2023|u10|txt/.test(key))).toEqual([]);
    const zmetadata = `${Buffer.from((await target().get(zarrFormat === "v2" ? ".zmetadata" : "zarr.json")) ?? [])}`;
    expect(zmetadata).toContain("2024/t2m");
    expect(zmetadata).not.toMatch(/2023|u10/);
    await expectTrueConsolidation(target());
  });

  test("never takes some chunks of an array", async () => {
    const chunks = { include: zarrFormat === "v2" ? "0.*" : "c" };
    await expect(copiedKeys(chunks)).rejects.toMatchObject({ code: "invalid-option" });
    const keys = await copiedKeys({ exclude: zarrFormat === "v2" ? "0.*" : "c" });
    expect(keys.filter((key) => key.startsWith("2024/t2m")).length).toBeGreaterThan(4);
  });

  test("goes with a change on the way", async () => {
    await copy("memory:filter-source", "memory:filter-target", { include: "t2m", codec: "zlib:1" });
    expect(await nodesOf()).toEqual(["2023", "2023/t2m", "2024", "2024/t2m"]);
  });

  test("refuses a name to include that nothing has, and patterns of which none matches", async () => {
    const failure = (glob: string, hint: string) => ({
      code: "invalid-option",
      reason: `nothing matches the glob \`${glob}\` to include`,
      details: { hint },
    });
    await expect(warningsOf({ include: ["t2m", "t3m"] })).rejects.toMatchObject(
      failure("t3m", "Did you mean `t2m`?"),
    );
    const repeat = "Repeat the flag for each name, or write `{t2m,u10}`.";
    await expect(warningsOf({ include: "t2m,u10" })).rejects.toMatchObject(failure("t2m,u10", repeat));
    await expect(warningsOf({ include: "*.none" })).rejects.toMatchObject({ code: "invalid-option" });
    const both = { include: "t2m", exclude: "t2m" };
    await expect(warningsOf(both)).rejects.toMatchObject({
      reason: "everything that `t2m` includes is excluded",
    });
    expect(await warningsOf({ include: ["2023", "*.none"] })).toMatchObject([
      { code: "nothing-matches", option: "include", message: "nothing matches the glob `*.none` to include" },
    ]);
  });

  test("warns of what is to be excluded and is not there, and refuses a glob that makes no sense", async () => {
    const warning = { code: "nothing-matches", option: "exclude", hint: "Did you mean `t2m`?" };
    const message = "nothing matches the glob `t3m` to exclude";
    expect(await warningsOf({ exclude: ["t3m", "2023", "2023/t2m"] })).toEqual([{ ...warning, message }]);
    await expect(copiedKeys({ include: "[a" })).rejects.toMatchObject({ code: "invalid-option" });
  });

  test("opens nothing of what is excluded, whatever is wrong with it", async () => {
    for (const name of zarrFormat === "v2" ? [".zarray", ".zattrs"] : ["zarr.json"])
      await givenKeys({ [`2023/${name}`]: "{ this is no JSON", [`2024/u10/${name}`]: "{ nor this" }, source);
    const asked: string[] = [];
    const watched = withRequestLog(source, ({ operation, key }) => {
      if (operation.startsWith("get")) asked.push(key);
    });
    await copy(watched, "memory:filter-target", { exclude: ["2023", "u10"] });
    expect(await nodesOf()).toEqual(["2024", "2024/t2m", "empty", "time"]);
    expect(asked.filter((key) => /2023|u10/.test(key))).toEqual([]);
    await expectTrueConsolidation(target());
    const whole = copy(watched, new MemoryStore(), {});
    await expect(whole).rejects.toMatchObject({ code: "invalid-metadata" });
  });
});

const places = temporaryFolder();
let folder: string;
let source: string;
beforeEach(async () => {
  folder = join(places.next(), "..");
  source = join(folder, "source");
  const plain = { "notes.txt": "hello", empty: new Uint8Array() };
  const nodes = await Promise.all([
    valuesIn(await makeHierarchy("v2"), "a.zarr"),
    valuesIn(await makeHierarchy("v3"), "deep/b.zarr"),
  ]);
  const values = nodes.flatMap((one) => [...one]);
  await givenKeys({ ...plain, ...Object.fromEntries(values) }, new DirectoryStore(source));
});

describe("a copy of a folder that is no node", () => {
  test("is copied with every key, there and back, and said to be none", async () => {
    const events: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => void events.push(event);
    const report = await copy(source, join(folder, "x.zip"), { onEvent, verify: true });
    const message = expect.stringMatching(/not a Zarr hierarchy/);
    expect(events).toContainEqual({ type: "warning", message });
    await copy(join(folder, "x.zip"), join(folder, "back"));
    const content = await contentsOf(new DirectoryStore(source));
    expect(await contentsOf(new DirectoryStore(join(folder, "back")))).toEqual(content);
    expect(report).toMatchObject({ keysWritten: Object.keys(content).length, tasks: 0 });
    expect((await open(join(folder, "back/deep/b.zarr/2024/t2m"))).kind).toBe("array");
  });

  test("is filtered as any other", async () => {
    await copy(source, join(folder, "some"), { include: ["*.txt", "a.zarr"], exclude: "2023" });
    const keys = Object.keys(await contentsOf(new DirectoryStore(join(folder, "some"))));
    expect(keys).toContain("notes.txt");
    expect(keys).toContain("deep/b.zarr/notes.txt");
    expect(keys.filter((key) => /^deep\/.*(?:zarr.json|\/c\/)|2023/.test(key))).toEqual([]);
    expect((await open(join(folder, "some/a.zarr/2024/t2m"))).kind).toBe("array");
  });

  test("is no source of anything that changes arrays, and must hold something", async () => {
    const refused = { code: "not-found" };
    for (const changes of [{ to: "v3" }, { codec: "zlib:1" }] as const)
      await expect(planFlow(source, join(folder, "x"), changes)).rejects.toMatchObject(refused);
    await expect(planFlow(join(folder, "nothing"), join(folder, "x"))).rejects.toMatchObject(refused);
  });
});
