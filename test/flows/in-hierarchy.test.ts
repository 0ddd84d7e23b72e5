// @module-tag slow
import { describe, expect, test } from "vitest";
import { copy, deleteNode, exists, open, openArray, rechunk, renameNode, sliceTo } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { expectTrueConsolidation } from "../hierarchy/fresh-consolidation.ts";
import { everythingIn, jsonAt } from "../hierarchy/keys.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { given } from "../support/given.ts";

const folder = temporaryFolder();
const array = { shape: [4, 6], dataType: "int16", chunks: [2, 3], dimensionNames: ["y", "x"] } as const;

/** A group with an array `a`, and its consolidated metadata. */
const made = (zarrFormat: "v2" | "v3"): Promise<string> =>
  given({ at: folder.next("h.zarr"), zarrFormat, arrays: { a: array }, consolidated: true });

const isTrue = (root: string) => expectTrueConsolidation(new DirectoryStore(root));

describe.each([
  ["v2", ".zmetadata"],
  ["v3", "zarr.json"],
] as const)("what flows make in a hierarchy of %s", (zarrFormat, key) => {
  test("is part of it: consolidated metadata tell of it, and groups on the way are made", async () => {
    const [root, other] = [await made(zarrFormat), await made(zarrFormat)];
    for (const [run, path, kind] of [
      [() => rechunk(`${root}/a`, `${root}/rechunked`, { chunks: { y: -1 } }), "rechunked", "array"],
      [() => sliceTo(`${root}/a`, `${root}/parts/more/first`, { slice: { y: 0 } }), "parts", "group"],
      [() => copy(other, `${root}/whole`), "whole", "group"],
      [() => copy(`${other}/a`, `${root}/whole`, { ifExists: "replace" }), "whole", "array"],
    ] as const) {
      await run();
      await isTrue(root);
      expect((await open(`${root}/${path}`)).kind).toBe(kind);
    }
  });

  test("an array is rechunked in place: written beside, deleted, renamed", async () => {
    const root = await made(zarrFormat);
    await rechunk(`${root}/a`, `${root}/a.new`, { chunks: [4, 2] });
    await deleteNode(`${root}/a`);
    expect(await exists(`${root}/a`)).toBe(false);
    await renameNode(`${root}/a.new`, "a");
    expect((await openArray(`${root}/a`)).chunkShape).toEqual([4, 2]);
    await isTrue(root);
  });

  test("may be a slice with its companions, of an array in which chunks are missing", async () => {
    const along = (...names: string[]) =>
      ({
        ...array,
        shape: names.map(() => 6),
        chunks: names.map(() => 3),
        dimensionNames: names,
        values: null,
      }) as const;
    const arrays = { y: along("y"), x: along("x"), lone: along("lone"), v: along("y", "x") };
    const root = await given({ at: folder.next("h.zarr"), zarrFormat, arrays });
    for (const threads of [1, 2]) {
      const sub = `${root}/sub${threads}`;
      await sliceTo(`${root}/v`, sub, { slice: { y: [0, 4] }, threads, codec: "gzip:1" });
      expect((await openArray(`${sub}/v`)).shape).toEqual([4, 6]);
      expect((await openArray(`${sub}/y`)).shape).toEqual([4]);
    }
  });

  test("is refused below an array, and leaves no trace where it cannot be published", async () => {
    const root = await made(zarrFormat);
    const before = everythingIn(root);
    const refused = copy(await made(zarrFormat), `${root}/a/b`);
    await expect(refused).rejects.toMatchObject({ code: "path-not-allowed" });
    expect(everythingIn(root)).toEqual(before);
    const document = await jsonAt(new DirectoryStore(root), key);
    const stop = new AbortController();
    const copied = copy(await made(zarrFormat), `${root}/b`, {
      signal: stop.signal,
      onEvent: ({ type }) => type === "progress" && stop.abort(new Error("enough")),
    });
    await expect(copied).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
    expect(await jsonAt(new DirectoryStore(root), key)).toEqual(document);
    expect(await exists(`${root}/b`)).toBe(false);
  });
});

test("what is of another format than the groups around it stays apart", async () => {
  const root = await made("v2");
  const before = await jsonAt(new DirectoryStore(root), ".zmetadata");
  await copy(`${await made("v3")}/a`, `${root}/g/b`);
  expect(await jsonAt(new DirectoryStore(root), ".zmetadata")).toEqual(before);
  expect(everythingIn(root)).not.toContain("g/.zgroup");
});
