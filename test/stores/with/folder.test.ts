import { expect, it } from "vitest";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { isListable, isWritable } from "../../../src/stores/store.ts";
import { withFolder } from "../../../src/stores/with/folder.ts";
import { UnlistedStore } from "../../hierarchy/stores.ts";

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};

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

it("lists and closes as the whole store does", async () => {
  const store = new UnlistedStore(new MemoryStore());
  let closed = 0;
  const folder = withFolder(Object.assign(store, { close: async () => void closed++ }), "a");
  expect(isListable(folder)).toBe(false);
  await folder.close?.();
  expect(closed).toBe(1);
});
