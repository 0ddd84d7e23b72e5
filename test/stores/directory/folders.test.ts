import fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { removeFolder } from "../../../src/stores/directory/directory-tree.ts";
import { writeNewFile } from "../../../src/stores/directory/lock-file.ts";
import {
  FolderWatch,
  isWatched,
  type MissingNote,
  noteMissing,
  noteMissingBelow,
} from "../../../src/stores/directory/missing-values.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { asyncFileCalls, type FileCalls } from "../../../src/stores/files/file-calls.ts";
import { pause } from "../../../src/util/pause.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();

function made(...names: readonly string[]): string {
  const root = folder.next();
  for (const name of ["", ...names]) fs.mkdirSync(join(root, name), { recursive: true });
  return root;
}

it("a lock that cannot be written is not left, where it would stand in the way of all", async () => {
  const path = join(folder.path, "lock");
  const full = { ...asyncFileCalls, write: () => Promise.reject(new Error("no space left")) };
  const write = (files: FileCalls) => writeNewFile({ files, fsync: false }, path, Uint8Array.of(1));
  await expect(write(full)).rejects.toThrow("no space left");
  expect(fs.existsSync(path)).toBe(false);
  expect([await write(asyncFileCalls), await write(asyncFileCalls)]).toEqual([true, false]);
});

it("a folder is removed with all in it, a link itself, and nothing that links lead to", async () => {
  const root = made("old/a/b/c", "kept");
  fs.writeFileSync(join(root, "kept/file"), "kept");
  for (let i = 0; i < 50; i++) fs.writeFileSync(join(root, `old/a/b/${i}`), "x");
  for (const name of ["old/a/link", "link"]) fs.symlinkSync(join(root, "kept"), join(root, name));
  fs.symlinkSync(join(root, "nowhere"), join(root, "old/a/dangling"));
  for (const name of ["old", "link", "none"]) await removeFolder(join(root, name));
  expect(fs.readdirSync(root)).toEqual(["kept"]);
  expect(fs.readdirSync(join(root, "kept"))).toEqual(["file"]);
});

describe("a watch of folders in which values are missing", () => {
  const CHANGED = { code: "source-changed" };

  it("finds a change after a folder was looked at, or between the begin and that", async () => {
    const root = made("c");
    const watch = new FolderWatch(root);
    const now = Date.now();
    noteMissing(join(root, "c"));
    await watch.assertUnchanged();
    await pause(10);
    fs.writeFileSync(join(root, "c/0"), "");
    await expect(watch.assertUnchanged()).rejects.toMatchObject({ ...CHANGED, details: { key: "c" } });
    watch.end();
    const other = new FolderWatch(root);
    noteMissing({ folder: join(root, "c"), changedAt: now + 100, seenAt: now + 200 });
    await expect(other.assertUnchanged()).rejects.toMatchObject(CHANGED);
    other.end();
  });

  it("does not believe the times of a clock that is ahead, nor those before the begin", async () => {
    const root = made("c", "d");
    await pause(10);
    const watch = new FolderWatch(root);
    const { ctimeMs } = fs.statSync(join(root, "c"));
    noteMissing({ folder: join(root, "c"), changedAt: ctimeMs, seenAt: Math.floor(ctimeMs) - 5 });
    noteMissing(join(root, "d"));
    noteMissingBelow(root);
    await watch.assertUnchanged();
    watch.end();
  });

  it("takes what two threads saw differently for a change", async () => {
    const root = made("c");
    const watch = new FolderWatch(root);
    for (const changedAt of [1, 2]) noteMissing({ folder: join(root, "c"), changedAt, seenAt: 2 });
    await expect(watch.assertUnchanged()).rejects.toMatchObject(CHANGED);
    watch.end();
  });

  it("looks at the nearest folder that is there, of no other root, for no document, to its end", async () => {
    const root = made("a/c");
    const notes: MissingNote[] = [];
    const watch = new FolderWatch(root, { onNote: (note) => notes.push(note) });
    const store = new DirectoryStore(root);
    const keys = ["a/c/0/0", "a/c/1/0", "a/.zattrs", "a/zarr.json"];
    for (const key of keys) expect(await store.get(key)).toBeUndefined();
    expect(await new DirectoryStore(`${root}-other`).get("a/c")).toBeUndefined();
    fs.rmSync(join(root, "a"), { recursive: true });
    expect(await store.get("a/b/0")).toBeUndefined();
    expect(isWatched()).toBe(true);
    watch.end();
    noteMissing(join(root, "b"));
    expect(notes.map(({ folder }) => folder)).toEqual([join(root, "a/c"), root]);
  });
});
