import { readdirSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { withBlockingCalls } from "../../../src/stores/with/blocking-calls.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();
const value = Uint8Array.of(1, 2, 3);
const nothing = () => undefined;

describe("withBlockingCalls", () => {
  it("reads and writes by calls that block", async () => {
    const store = new DirectoryStore(folder.next());
    await store.set("first", value);
    const others = (["get", "set"] as const).map((name) => vi.spyOn(store, name));
    const blocking = withBlockingCalls(store, nothing);
    await blocking.set("a/b", value);
    expect(await blocking.get("a/b")).toEqual(value);
    expect(await blocking.get("a/b", { range: { offset: 1, length: 1 } })).toEqual(Uint8Array.of(2));
    expect(await blocking.get("a/none")).toBeUndefined();
    for (const spy of others) expect(spy).not.toHaveBeenCalled();
  });

  it("writes the pieces of a value by calls that block, in order", async () => {
    const root = folder.next();
    const blocking = withBlockingCalls(new DirectoryStore(root), nothing);
    const writer = await blocking.openWriter("a");
    for (const piece of [value, Uint8Array.of(4)]) await writer.write(piece);
    await writer.commit();
    expect(await blocking.get("a")).toEqual(Uint8Array.of(1, 2, 3, 4));
    await expect(writer.write(value)).rejects.toMatchObject({ code: "unsupported-operation" });
    const given = await blocking.openWriter("b");
    await given.write(value);
    await given.abort();
    expect(readdirSync(root)).toEqual(["a"]);
  });

  it("makes calls that wait of a store that has no others", async () => {
    const store = new MemoryStore("m");
    const blocking = withBlockingCalls(store, nothing);
    await blocking.set("a", value);
    const writer = await blocking.openWriter("b");
    await writer.write(value);
    await writer.commit();
    expect([await blocking.get("a"), await store.get("b")]).toEqual([value, value]);
    expect(blocking.getSync).toBeUndefined();
  });

  it("looks up before each call, and makes none once that fails", async () => {
    const store = new DirectoryStore(folder.next());
    await store.set("a", value);
    let stopped: Error | undefined;
    const blocking = withBlockingCalls(store, () => stopped && Promise.reject(stopped));
    const writer = await blocking.openWriter("b");
    expect(blocking.getSync?.("a")).toEqual({ bytes: value });
    stopped = new Error("stopped");
    await expect(blocking.get("a")).rejects.toBe(stopped);
    await expect(blocking.set("c", value)).rejects.toBe(stopped);
    await expect(blocking.openWriter("c")).rejects.toBe(stopped);
    await expect(writer.write(value)).rejects.toBe(stopped);
    await expect(blocking.size("a")).rejects.toBe(stopped);
    expect(blocking.getSync?.("a")).toBeUndefined();
    await writer.abort();
  });
});

it("a writer takes pieces at once only when none is on its way", async () => {
  const store = new DirectoryStore(folder.next());
  const writer = await store.openWriter("a");
  const first = writer.write(value);
  expect(writer.writeSync?.(Uint8Array.of(9))).toBe(false);
  await first;
  expect(writer.writeSync?.(Uint8Array.of(4))).toBe(true);
  await writer.commit();
  expect(writer.writeSync?.(Uint8Array.of(9))).toBe(false);
  expect(await store.get("a")).toEqual(Uint8Array.of(1, 2, 3, 4));
});
