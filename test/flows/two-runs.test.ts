// @module-tag long
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { consolidatedOf } from "../../src/hierarchy/consolidated.ts";
import { walk } from "../../src/hierarchy/open/walk.ts";
import { copy, createGroup, open } from "../../src/index.ts";
import { runCli } from "../support/cli.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { RunPlaces } from "../support/run-places.ts";
import { type PausedCopy, pausedCopy } from "./paused-run.ts";

const places = new RunPlaces();
const { folder, placeOf } = places;

/** Members of the root that its consolidated metadata tell of, and those that are there. */
async function membersOf(target: string): Promise<{ told: string[]; there: string[] }> {
  const root = await open(target);
  if (root.kind !== "group") throw new Error("no group");
  const told = new Set<string>();
  for (const key of (await consolidatedOf(root))?.keys() ?? []) if (key.includes("/")) told.add(key);
  const there = new Set<string>();
  for await (const { documents } of walk(root)) for (const key of documents.keys()) there.add(key);
  return { told: [...told].sort(), there: [...there].sort() };
}

describe.each(["directory", "s3"] as const)("two processes in a hierarchy of a %s", (kind) => {
  const whole = ["update", "replace", "skip"] as const;

  test.each(whole)("one that holds all of it (%s) keeps off those of its members", async (ifExists) => {
    const target = placeOf[kind]();
    const exclude = ifExists === "skip" ? ["2024"] : [];
    await copy(await makeHierarchy("v2", { consolidated: true }), target, { exclude });
    const run = await pausedCopy(folder.path, { source: places.source, path: "", target, ifExists });
    for (const [name, options] of [
      ["time", ["--if-exists", "replace"]],
      ["new", []],
    ] as const) {
      const member = await runCli(
        folder.path,
        "copy",
        `${places.source}/time`,
        `${target}/${name}`,
        ...options,
      );
      expect(member.stderr).toMatch(/another run is writing/);
      expect(member.code).not.toBe(0);
    }
    expect(await run.end()).toBe(0);
    const { told, there } = await membersOf(target);
    expect(told).toEqual(there);
    expect(there).not.toContain("new/.zarray");
  });

  const member: readonly Pick<PausedCopy, "path" | "ifExists">[] = [
    { path: "time", ifExists: "replace" },
    { path: "2024/t2m", ifExists: "error" },
  ];
  test.each(member)("one that holds $path ($ifExists) keeps off those of all of it", async (of) => {
    const target = placeOf[kind]();
    const exclude = of.ifExists === "error" ? ["2024/t2m"] : [];
    await copy(await makeHierarchy("v2", { consolidated: true }), target, { exclude });
    const run = await pausedCopy(folder.path, {
      source: places.source,
      target: `${target}/${of.path}`,
      ...of,
    });
    const other = of.ifExists === "error" ? [["--if-exists", "skip"]] : [];
    for (const options of [["--if-exists", "replace"], ["--update"], ...other]) {
      const all = await runCli(folder.path, "copy", places.source, target, ...options);
      expect(all.stderr, `${options}`).toMatch(/another run is writing/);
      expect(all.code).not.toBe(0);
    }
    expect(await run.end()).toBe(0);
    const { told, there } = await membersOf(target);
    expect(told).toEqual(there);
    expect(there).toContain(`${of.path}/.zarray`);
  });
});

describe.each(["v2", "v3"] as const)(
  "runs that change different members of a hierarchy (%s)",
  (zarrFormat) => {
    test("all are listed by its consolidated metadata in a folder, by processes at one time", async () => {
      const members = ["a", "b", "c", "d"];
      for (let round = 0; round < 3; round++) {
        const target = placeOf.directory();
        await (await createGroup(target, { zarrFormat }, { consolidated: true })).close();
        const from = folder.next("from.zarr");
        await copy(await makeHierarchy(zarrFormat), from);
        const runs = members.map((name) => runCli(folder.path, "copy", `${from}/time`, `${target}/${name}`));
        for (const { code, stderr } of await Promise.all(runs))
          expect({ code, stderr }).toMatchObject({ code: 0 });
        const { told, there } = await membersOf(target);
        expect(there.filter((key) => /array|zarr\.json/.test(key))).toHaveLength(members.length);
        expect(told).toEqual(there);
      }
    });

    test("both are listed by its consolidated metadata in a bucket whose writes take long", async () => {
      const target = placeOf.s3();
      const values = await makeHierarchy(zarrFormat);
      await (await createGroup(target, { zarrFormat, attributes: { n: 1 } }, { consolidated: true })).close();
      await copy({ store: values, path: "time" }, `${target}/old`);
      places.server.fault = async (_, { method, key }) => {
        const isRoots = key?.endsWith("h.zarr/.zmetadata") || key?.endsWith("h.zarr/zarr.json");
        if (method === "PUT" && isRoots) await new Promise((resolve) => setTimeout(resolve, 150));
        return false;
      };
      try {
        await Promise.all([
          copy({ store: values, path: "time" }, `${target}/a`),
          copy({ store: values, path: "2023/t2m" }, `${target}/b`),
          copy({ store: values, path: "2024/t2m" }, `${target}/old`, { ifExists: "replace" }),
        ]);
      } finally {
        places.server.fault = undefined;
      }
      const { told, there } = await membersOf(target);
      expect(there.filter((key) => /array|zarr\.json/.test(key))).toHaveLength(3);
      expect(told).toEqual(there);
    });
  },
);

test("a lock of consolidated metadata that a killed run has left keeps nobody off for long", async () => {
  const target = placeOf.directory();
  await (await createGroup(target, { zarrFormat: "v2" }, { consolidated: true })).close();
  const { utimes, writeFile } = await import("node:fs/promises");
  const lock = join(target, ".zarrflow-consolidated-lock");
  await writeFile(lock, JSON.stringify({ owner: "gone", begun: "then", renewed: "then" }));
  const old = new Date(Date.now() - 61_000);
  await utimes(lock, old, old);
  await copy({ store: await makeHierarchy("v2"), path: "time" }, join(target, "a"));
  await expect(readFile(lock)).rejects.toThrow();
  expect((await membersOf(target)).told).toContain("a/.zarray");
});
