import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { isListable, isWritable } from "../../../src/stores/store.ts";
import { withFolder, withWritableFolder } from "../../../src/stores/with/folder.ts";
import { UnlistedStore } from "../../hierarchy/stores.ts";
import { all } from "../../support/consume.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folders = temporaryFolder();

it("is a store of the keys in a folder", async () => {
  const whole = new MemoryStore();
  for (const key of ["a/b", "a/c/d", "ab/c", "e"]) await whole.set(key, Uint8Array.of(key.length));
  const store = withFolder(whole, "a");
  expect(await store.get("c/d")).toEqual(Uint8Array.of(5));
  expect(await store.size("b")).toBe(1);
  expect(await store.get("e")).toBeUndefined();
  expect(store.description).toBe("a in memory");
  expect(isWritable(store)).toBe(false);
  if (!isListable(store)) throw new Error("cannot list");
  expect((await all(store.list(""))).map(({ key }) => key)).toEqual(["b", "c/d"]);
  expect(await all(store.list("c/"))).toMatchObject([{ key: "c/d", size: 1 }]);
  expect(await all(store.listDirectory(""))).toMatchObject([{ key: "b" }, { prefix: "c/" }]);
});

it("reports what cannot be read by its names", async () => {
  const root = folders.next();
  mkdirSync(join(root, "a/b"), { recursive: true });
  symlinkSync("nowhere", join(root, "a/b/link"));
  const store = withFolder(new DirectoryStore(root), "a");
  if (!isListable(store)) throw new Error("cannot list");
  for (const [list, prefix] of [
    [store.list, ""],
    [store.listDirectory, "b/"],
  ] as const) {
    const told: string[] = [];
    await all(list(prefix, { onUnreadable: (name) => told.push(name) }));
    expect(told).toEqual(["b/link"]);
    await expect(all(list(prefix))).rejects.toMatchObject({ code: "corrupt-store" });
  }
});

it("lists and closes as the whole store does", async () => {
  const store = new UnlistedStore(new MemoryStore());
  let closed = 0;
  const folder = withFolder(Object.assign(store, { close: async () => void closed++ }), "a");
  expect(isListable(folder)).toBe(false);
  await folder.close?.();
  expect(closed).toBe(1);
});

it("is written too, where that is asked for, and keeps what its store can do", async () => {
  const whole = new MemoryStore();
  await whole.set("b/c", Uint8Array.of(1));
  const store = withWritableFolder(whole, "a");
  await store.set("x", Uint8Array.of(2));
  const writer = await store.openWriter("y/z");
  await writer.write(Uint8Array.of(3));
  await writer.commit();
  await store.rename?.("x", "w");
  await store.delete("c");
  expect((await all(whole.list(""))).map(({ key }) => key)).toEqual(["a/w", "a/y/z", "b/c"]);
  await store.delete("w");
  expect(await whole.get("a/w")).toBeUndefined();
  expect([store.setIfAbsent, store.deleteMany]).toEqual([undefined, undefined]);
});
