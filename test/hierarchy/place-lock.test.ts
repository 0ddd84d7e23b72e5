// @module-tag long
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  copy,
  create,
  createGroup,
  deleteNode,
  openArray,
  renameNode,
  resizeArray,
  setAttributes,
} from "../../src/index.ts";
import { openStore, parseStoreUrl } from "../../src/stores/url.ts";
import { StoreLock } from "../../src/targets/store-lock.ts";
import { pausedCopy } from "../flows/paused-run.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { RunPlaces } from "../support/run-places.ts";

const places = new RunPlaces();
const { folder, placeOf } = places;

const NEW = { shape: [4], chunks: [2], dataType: "int32" } as const;
const LOCKED = { code: "locked" };

const edits: Record<string, (hierarchy: string) => Promise<unknown>> = {
  create: (h) => create(`${h}/time`, NEW, { ifExists: "replace" }),
  createGroup: (h) => createGroup(`${h}/time`, {}, { ifExists: "replace" }),
  setAttributes: (h) => setAttributes(`${h}/time`, { units: "K" }),
  resizeArray: async (h) => {
    const { shape } = await openArray(`${h}/time`);
    return resizeArray(
      `${h}/time`,
      shape.map((size) => size + 1),
    );
  },
  deleteNode: (h) => deleteNode(`${h}/time`),
};

describe.each(["directory", "s3"] as const)("in a hierarchy of a %s", (kind) => {
  const names = kind === "s3" ? Object.keys(edits) : [...Object.keys(edits), "renameNode"];
  const edit = (name: string) => edits[name] ?? ((h: string) => renameNode(`${h}/time`, "other"));

  it.each(names)(
    "%s is kept off by another process that holds all of it, and does it afterwards",
    async (name) => {
      const target = placeOf[kind]();
      await copy(await makeHierarchy("v2", { consolidated: true }), target);
      const run = await pausedCopy(folder.path, {
        source: places.source,
        path: "",
        target,
        ifExists: "update",
      });
      await expect(edit(name)(target)).rejects.toMatchObject(LOCKED);
      expect(await run.end()).toBe(0);
      const made = await edit(name)(target);
      if (made && typeof made === "object" && "close" in made) await (made.close as () => Promise<void>)();
      expect(await locksIn(target)).toEqual([]);
    },
  );

  it.each(["setAttributes", "resizeArray", "deleteNode"])(
    "%s is kept off by another process at the node, and leaves it whole",
    async (name) => {
      const target = placeOf[kind]();
      await copy(await makeHierarchy("v2"), target);
      const at = {
        source: places.source,
        path: "time",
        target: `${target}/time`,
        ifExists: "update",
      } as const;
      const run = await pausedCopy(folder.path, at);
      await expect(edit(name)(target)).rejects.toMatchObject(LOCKED);
      expect(await run.end()).toBe(0);
      await edit(name)(target);
    },
  );

  /** Keys of locks that are left at a place. */
  async function locksIn(target: string): Promise<string[]> {
    if (kind === "directory")
      return (await readdir(target, { recursive: true })).filter((name) => name.includes("zarrflow"));
    return [...places.server.objects.keys()].filter(
      (key) => key.startsWith(target.split("/").slice(3).join("/")) && key.includes(".zarrflow-"),
    );
  }
});

describe("in a bucket", () => {
  it("one array alone is made at a place at a time", async () => {
    const target = placeOf.s3();
    await (await createGroup(target, { zarrFormat: "v3" })).close();
    const first = await create(`${target}/a`, NEW);
    await expect(create(`${target}/a`, { ...NEW, chunks: [4] })).rejects.toMatchObject(LOCKED);
    await expect(copy(`${places.source}/time`, `${target}/a`)).rejects.toMatchObject(LOCKED);
    await expect(deleteNode(target)).rejects.toMatchObject(LOCKED);
    await first.write({}, Int32Array.of(1, 2, 3, 4));
    await first.close();
    await expect(create(`${target}/a`, NEW)).rejects.toMatchObject({ code: "target-exists" });
    const given = await create(`${target}/b`, NEW);
    await given.abort();
    await (await create(`${target}/b`, NEW)).close();
  });

  it("an array whose place another run took over is not published", async () => {
    const target = placeOf.s3();
    await (await createGroup(target, { zarrFormat: "v3" })).close();
    const made = await create(`${target}/a`, NEW);
    const store = await openStore(parseStoreUrl(`${target}/a`).spec);
    const other = await StoreLock.take(store as never, { breakLock: true });
    await expect(made.close()).rejects.toMatchObject(LOCKED);
    await other?.release();
    await expect(openArray(`${target}/a`)).rejects.toMatchObject({ code: "not-found" });
  });
});
