import { expect, test } from "vitest";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { deleteAll } from "../../../src/stores/target/delete-all.ts";
import { type StoreRequest, withRequestLog } from "../../../src/stores/with/request-log.ts";

const DOCUMENTS = [".zgroup", "t/.zarray", "t/.zmetadata"];

test.each([
  ["a listing that is kept", 40, 1],
  ["one that is too long to be kept", 10_050, 2],
])("all keys are deleted, documents that make nodes first, by %s", async (_, chunks, listings) => {
  const bytes = new Uint8Array(1);
  const store = new MemoryStore();
  for (let i = 0; i < chunks; i++) await store.set(`t/${i}`, bytes);
  for (const key of [...DOCUMENTS, "t/.zattrs"]) await store.set(key, bytes);
  const seen: StoreRequest[] = [];
  await deleteAll(withRequestLog(store, (entry) => seen.push(entry)));
  const deleted = seen.filter(({ operation }) => operation === "delete").map(({ key }) => key);
  expect(deleted.slice(0, DOCUMENTS.length).sort()).toEqual([...DOCUMENTS].sort());
  expect(new Set(deleted).size).toBe(chunks + 4);
  for await (const { key } of store.list("")) expect.unreachable(key);
  expect(seen.filter(({ operation }) => operation === "list")).toHaveLength(listings);
});
