import { describe, expect, it } from "vitest";
import { open, openGroup } from "../../src/hierarchy/open/open.ts";
import { walk } from "../../src/hierarchy/open/walk.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions } from "../../src/stores/store.ts";
import { givenKeys } from "../support/given.ts";
import { ZARRAY } from "./stores.ts";

/** A group `g` with an array `g/a` whose attributes have so many characters; it notes what buffers it takes. */
class Counting extends MemoryStore {
  readonly taken: number[] = [];

  override get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    const allocate = (size: number) => {
      const buffer = options.allocate?.(size) ?? new Uint8Array(size);
      this.taken.push(size);
      return buffer;
    };
    return super.get(key, { ...options, allocate });
  }
}

async function store(characters: number, isConsolidated = false): Promise<Counting> {
  const attributes = { text: "x".repeat(characters) };
  const metadata = { ".zgroup": { zarr_format: 2 }, "a/.zarray": ZARRAY, "a/.zattrs": attributes };
  const below = isConsolidated
    ? { "g/.zmetadata": { zarr_consolidated_format: 1, metadata } }
    : { "g/a/.zarray": ZARRAY, "g/a/.zattrs": attributes };
  return givenKeys({ "g/.zgroup": { zarr_format: 2 }, ...below }, new Counting());
}

const refusal = { code: "resource-limit", reason: "the metadata document is too large" };

describe("metadata documents", () => {
  it("of more than 32 MiB are not read", async () => {
    const large = await store(33 * 2 ** 20);
    await expect(open({ store: large, path: "g/a" })).rejects.toMatchObject({
      ...refusal,
      details: { key: "g/a/.zattrs", expected: "at most 33554432 bytes" },
    });
    expect(Math.max(...large.taken)).toBeLessThan(1000);
  });

  it.each([false, true])("are read up to maxMetadata, consolidated %s", async (isConsolidated) => {
    const made = await store(2000, isConsolidated);
    const source = { store: made, path: "g/a" };
    await expect(open(source, { maxMetadata: 1000 })).rejects.toMatchObject(refusal);
    await expect(open(source, { maxMetadata: 5000 })).resolves.toMatchObject({ kind: "array" });
  });

  it("of members are bounded as that of the group", async () => {
    const root = await openGroup({ store: await store(2000), path: "g" }, { maxMetadata: 1000 });
    await expect(walk(root).next()).rejects.toMatchObject(refusal);
  });

  it("of a store that takes no heed of sizes are refused when they are there", async () => {
    const made = await store(2000);
    const heedless = { description: "heedless", get: (key: string) => made.get(key), size: made.size };
    const opened = open({ store: heedless, path: "g/a" }, { maxMetadata: 1000 });
    await expect(opened).rejects.toMatchObject(refusal);
  });
});
