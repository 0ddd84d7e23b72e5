// @module-tag long
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { create, openArray, slice } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { Store } from "../../../src/stores/store.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { bytesOf, digestOf, valuesIn } from "../../support/consume.ts";
import { given, givenKeys } from "../../support/given.ts";

const folder = temporaryFolder();

/** The digest of `items` bytes that are all 7 but for `values`, at their places. */
function expected(items: number, values: ReadonlyMap<number, number>): string {
  const hash = createHash("sha256");
  const piece = new Uint8Array(2 ** 20);
  for (let start = 0; start < items; start += piece.length) {
    const part = piece.subarray(0, Math.min(piece.length, items - start)).fill(7);
    for (const [at, value] of values) if (at >= start && at < start + part.length) part[at - start] = value;
    hash.update(part);
  }
  return hash.digest("hex");
}

async function makeSparse(at: string | Store, items: number, more: object = {}): Promise<void> {
  const array = { shape: [items], chunks: [1], dataType: "uint8", codec: "none", fillValue: 7 };
  await given({ at, ...array, ...more, values: null });
}

describe("an array that has few of its chunks", () => {
  const ITEMS = 2_000_000;
  const sparseMemory = async () => {
    const memory = new MemoryStore();
    await makeSparse(memory, ITEMS);
    for (const [at, value] of VALUES) await memory.set(`c/${at}`, Uint8Array.of(value));
    return memory;
  };
  const counting = (memory: MemoryStore) => {
    let gets = 0;
    const store = withRequestLog(memory, ({ operation }) => operation === "get" && gets++);
    return { store, gets: () => gets };
  };
  const VALUES = new Map([0, 1, 2, 1_000_000, 1_500_000, ITEMS - 1].map((at, i) => [at, i + 10]));

  it("is digested without asking for those that are missing", async () => {
    const memory = await sparseMemory();
    const { store, gets } = counting(memory);
    expect(await digestOf(store, { threads: 1 })).toBe(expected(ITEMS, VALUES));
    expect(gets()).toBeLessThan(2000);
    const root = folder.next();
    await givenKeys(Object.fromEntries(await valuesIn(memory)), new DirectoryStore(root));
    expect(await digestOf(root, { threads: 1 })).toBe(expected(ITEMS, VALUES));
    expect(await digestOf(new DirectoryStore(root))).toBe(expected(ITEMS, VALUES));
  });

  it("is digested so where they lie in shards, and in two dimensions", async () => {
    const memory = new MemoryStore();
    const array = await create(memory, {
      ...{ shape: [1000, 2000], chunks: [1, 5], shards: [10, 50], dataType: "uint8" },
      ...{ codec: "none", fillValue: 7 },
    });
    const at = 234 * 2000 + 567;
    await array.write({ start: [234, 567], shape: [1, 1] }, Uint8Array.of(99));
    await array.close();
    const { store, gets } = counting(memory);
    expect(await digestOf(store, { threads: 1 })).toBe(expected(ITEMS, new Map([[at, 99]])));
    expect(gets()).toBeLessThan(2000);
  });

  it("is sliced so, with steps", async () => {
    const part = slice(await openArray(await sparseMemory()), "500000:1900000:250000");
    expect([...(await bytesOf(part.bytes()))]).toEqual(
      Array.from({ length: 6 }, (_, i) => VALUES.get(500_000 + 250_000 * i) ?? 7),
    );
  });
});

it("digests 10^9 missing chunks, without a look at each", { timeout: 180_000 }, async () => {
  const root = folder.next();
  await makeSparse(root, 1e9);
  expect(await digestOf(root, { threads: 1 })).toBe(expected(1e9, new Map()));
});
