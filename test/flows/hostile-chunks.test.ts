// @module-tag slow
import { describe, expect, test } from "vitest";
import { digest, openArray, rechunk, slice, validate, writeRegion } from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions } from "../../src/stores/store.ts";
import { all } from "../support/consume.ts";
import { codeOf, encoder, FROM, storeOf, TO, withoutLeftStores, ZARRAY } from "./hostile-documents.ts";

withoutLeftStores();

describe("a stored chunk far larger than its codecs can explain", () => {
  /** Says of every chunk that it is huge, and counts what it is given for it. */
  class BombStore extends MemoryStore {
    allocated = 0;

    override async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
      if (key.startsWith(".z") || key === "zarr.json" || key === "meta") return super.get(key, options);
      const bytes = options.allocate?.(1e9) ?? new Uint8Array(1e9);
      this.allocated += bytes.length;
      return bytes;
    }
  }

  test.each([
    ["without codecs", ZARRAY],
    ["compressed", { ...ZARRAY, compressor: { id: "zlib", level: 1 } }],
    ["filtered", { ...ZARRAY, filters: [{ id: "shuffle", elementsize: 1 }] }],
  ])("is not read, %s", async (_, zarray) => {
    const store = new BombStore();
    await store.set(".zarray", encoder.encode(JSON.stringify(zarray)));
    await store.set("0", Uint8Array.of(1, 2));
    const array = await openArray({ store, path: "" });
    expect(await codeOf(() => slice(array).read())).toBe("resource-limit");
    expect(await codeOf(() => slice(array).chunks())).toBe("resource-limit");
    expect(await codeOf(() => slice(array).bytes())).toBe("resource-limit");
    expect(await codeOf(() => digest(array))).toBe("resource-limit");
    expect(await codeOf(() => rechunk(array, TO, { chunks: [3] }))).toBe("resource-limit");
    nameMemoryStore("hostile", store);
    expect(await codeOf(() => writeRegion(array, [[1, 3]], Uint8Array.of(1, 2)))).toBe("resource-limit");
    const findings = (await all(validate(array, { deep: true }))).map(({ message }) => message);
    expect(findings.join()).toContain("larger than its metadata allow");
    expect(store.allocated).toBe(0);
  });

  test("items of varying size may be larger than anybody expected", async () => {
    const texts = ["a", "b", "c", "d"].map((letter) => letter.repeat(200_000));
    const chunkOf = (items: readonly string[]) => {
      const parts = items.map((item) => Buffer.concat([u32(item.length), Buffer.from(item)]));
      return new Uint8Array(Buffer.concat([u32(items.length), ...parts]));
    };
    await storeOf({
      ".zarray": { ...ZARRAY, dtype: "|O", filters: [{ id: "vlen-utf8" }], fill_value: "" },
      "0": chunkOf(texts.slice(0, 2)),
      "1": chunkOf(texts.slice(2)),
    });
    expect([...(await slice(FROM).read()).data]).toEqual(texts);
    await rechunk(FROM, TO, { chunks: [3] });
    expect([...(await slice(TO).read()).data]).toEqual(texts);
  });
});

function u32(value: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(value).buffer);
}
