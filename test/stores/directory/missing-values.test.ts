import fs from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  FolderWatch,
  isWatched,
  type MissingNote,
  noteMissing,
  noteMissingBelow,
} from "../../../src/stores/directory/missing-values.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { pause } from "../../../src/util/pause.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();
const CHANGED = { code: "source-changed" };

function made(...names: readonly string[]): string {
  const root = folder.next();
  for (const name of ["", ...names]) fs.mkdirSync(join(root, name), { recursive: true });
  return root;
}

it("finds a folder changed that was changed after it was looked at, or between the begin and that", async () => {
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
  noteMissing({ folder: join(root, "c"), changedAt: 1, seenAt: 2 });
  noteMissing({ folder: join(root, "c"), changedAt: 2, seenAt: 2 });
  await expect(watch.assertUnchanged()).rejects.toMatchObject(CHANGED);
  watch.end();
});

it("looks at the nearest folder that is there, at none of other roots, and at none for documents", async () => {
  const root = made("a/c");
  const notes: string[] = [];
  const watch = new FolderWatch(root, { onNote: ({ folder }) => notes.push(folder) });
  const store = new DirectoryStore(root);
  const keys = ["a/c/0/0", "a/c/1/0", "a/.zattrs", "a/zarr.json"];
  for (const key of keys) expect(await store.get(key)).toBeUndefined();
  expect(await new DirectoryStore(`${root}-other`).get("a/c")).toBeUndefined();
  expect(notes).toEqual([join(root, "a/c")]);
  fs.rmSync(join(root, "a"), { recursive: true });
  expect(await store.get("a/b/0")).toBeUndefined();
  watch.end();
});

it("notes nothing once it has ended", () => {
  const root = made();
  const notes: MissingNote[] = [];
  const watch = new FolderWatch(root, { onNote: (note) => notes.push(note) });
  expect(isWatched()).toBe(true);
  watch.end();
  noteMissing(root);
  expect(notes).toEqual([]);
});
