import { describe, expect, it } from "vitest";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { storeChecks } from "../../src/stores/testing.ts";

describe("MemoryStore", () => {
  for (const { name, run } of storeChecks({ lists: true, empty: async () => new MemoryStore() }))
    it(name, () => run());

  it("copies a Buffer, whose own slice would not", async () => {
    const store = new MemoryStore();
    const bytes = Buffer.from([1, 2, 3]);
    await store.set("a", bytes);
    const writer = await store.openWriter("b");
    await writer.write(bytes);
    bytes.fill(0);
    await writer.commit();
    expect(await store.get("a")).toEqual(new Uint8Array([1, 2, 3]));
    expect(await store.get("b")).toEqual(new Uint8Array([1, 2, 3]));
  });
});

describe("named memory stores", () => {
  it("are there until they are unnamed", () => {
    const store = new MemoryStore();
    expect(namedMemoryStore("of memory.test")).toBeUndefined();
    nameMemoryStore("of memory.test", store);
    expect(namedMemoryStore("of memory.test")).toBe(store);
    nameMemoryStore("of memory.test", undefined);
    expect(namedMemoryStore("of memory.test")).toBeUndefined();
  });
});
