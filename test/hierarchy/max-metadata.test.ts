// @module-tag long
import fs from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { create, createGroup, open, rechunk, renameNode, validate } from "../../src/index.ts";
import { DEFAULT_MAX_METADATA } from "../../src/meta/format.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all } from "../support/consume.ts";

const folder = temporaryFolder();
const LARGE = 2 * DEFAULT_MAX_METADATA;
const TOO_LARGE = { code: "resource-limit" };
const ARRAY = { shape: [4], chunks: [2], dataType: "uint8" } as const;

describe("consolidated metadata above the limit", () => {
  let made: string;

  beforeAll(async () => {
    made = folder.next();
    const limits = { maxMetadata: LARGE };
    const group = await createGroup(made, { zarrFormat: "v3" }, { consolidated: true, ...limits });
    for (const name of ["a", "b"]) {
      const attributes = { text: name.repeat(DEFAULT_MAX_METADATA / 2) };
      const array = await group.create(name, { ...ARRAY, attributes });
      await array.write({}, [1, 2, 3, 4]);
      await array.close();
    }
    await group.close();
  });

  function copied(): string {
    const root = folder.next();
    fs.cpSync(made, root, { recursive: true });
    return root;
  }

  /** The arrays of which the consolidated metadata tell. */
  function members(root: string): string[] {
    const document = JSON.parse(fs.readFileSync(join(root, "zarr.json"), "utf8"));
    return Object.keys(document.consolidated_metadata.metadata).sort();
  }

  it.each([
    ["at a URL", (root: string) => `${root}/c`],
    ["in a store", (root: string) => ({ store: new DirectoryStore(root), path: "c" })],
  ])("lets a node be created beside the others %s, with `maxMetadata`", async (_, target) => {
    const root = copied();
    expect(members(root)).toEqual(["a", "b"]);
    const begin = async (limits: object) => (await create(target(root), ARRAY, limits)).close();
    await expect(begin({})).rejects.toMatchObject(TOO_LARGE);
    expect(fs.existsSync(join(root, "c"))).toBe(false);
    await begin({ maxMetadata: LARGE });
    await begin({ maxMetadata: LARGE, ifExists: "replace" });
    await expect(begin({ maxMetadata: LARGE })).rejects.toMatchObject({ code: "target-exists" });
    expect(members(root)).toEqual(["a", "b", "c"]);
    expect((await open(`${root}/c`)).kind).toBe("array");
  });

  it("let an array be rechunked into the hierarchy, with `maxMetadata`", async () => {
    const root = copied();
    const limits = { maxMetadata: LARGE };
    await rechunk(`${root}/a`, `${root}/c`, { chunks: [4], ...limits });
    expect(members(root)).toEqual(["a", "b", "c"]);
  });

  it("are rewritten by validate, with `maxMetadata`", async () => {
    const root = copied();
    const array = await create(`${root}/c`, ARRAY, { maxMetadata: LARGE });
    await array.close();
    fs.rmSync(join(root, "c"), { recursive: true });
    const fix = async (limits: object) =>
      (await all(validate(root, { fix: true, ...limits }))).map(({ what }) => what);
    expect(await fix({})).toEqual(["metadata"]);
    expect(members(root)).toEqual(["a", "b", "c"]);
    expect(await fix({ maxMetadata: LARGE })).toEqual(["stale-consolidated"]);
    expect(members(root)).toEqual(["a", "b"]);
  });

  it("follow a node that is renamed, opened with `maxMetadata`", async () => {
    const root = copied();
    const array = await create(`${root}/c`, ARRAY, { maxMetadata: LARGE });
    await array.close();
    const member = await open(`${root}/c`, { maxMetadata: LARGE });
    await renameNode(member, "d");
    expect(members(root)).toEqual(["a", "b", "d"]);
  });
});
