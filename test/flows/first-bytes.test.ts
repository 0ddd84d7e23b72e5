import { describe, expect, it } from "vitest";
import { openArray, slice } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions } from "../../src/stores/store.ts";
import { npyPieces } from "../../src/tables/npy.ts";
import { type GivenArray, given } from "../support/given.ts";
import { settled, until } from "../support/until.ts";

const items = Uint16Array.from({ length: 4 * 6 * 200 }, (_, i) => i);

/** A store that answers for some chunks, and for the others when it is let go on. */
class HeldStore extends MemoryStore {
  readonly asked: string[] = [];
  readonly #answered: readonly string[];
  isHeld = true;

  constructor(answered: readonly string[]) {
    super();
    this.#answered = answered;
  }

  override async get(key: string, options?: GetOptions) {
    if (/\d$/.test(key)) {
      this.asked.push(key);
      await until(() => !this.isHeld || this.#answered.includes(key) || options?.signal?.aborted);
    }
    return super.get(key, options);
  }
}

function held(array: Omit<GivenArray, "dataType" | "shape">, ...answered: readonly string[]) {
  const at = new HeldStore(answered);
  return given({ shape: [4, 6, 200], dataType: "uint16", values: items, ...array, at });
}

/** What a stream gives first, and, once the store goes on, all of it. */
async function firstAndAll(bytes: ReadableStream<Uint8Array>, store: HeldStore): Promise<[Buffer, Buffer]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) {
    pieces.push(piece);
    store.isHeld = false;
  }
  return [Buffer.from(pieces[0] ?? []), Buffer.concat(pieces)];
}

describe("the first bytes of a slice", () => {
  it.each([
    ["a row of chunks that is a slab", { chunks: [2, 6, 50] }, "c/0/0/0", 50],
    ["one chunk of several that are a slab", { chunks: [1, 6, 200] }, "c/0/0/0", 1200],
    ["chunks along the dimension in the middle", { chunks: [4, 2, 200] }, "c/0/0/0", 400],
    ["v2, in Fortran order", { chunks: [2, 3, 100], zarrFormat: "v2", order: "F" }, "0.0.0", 100],
    ["compressed ones", { chunks: [2, 6, 50], codec: "zstd" }, "c/0/0/0", 50],
  ] as const)("come when their chunk is there: %s", async (_, array, key, count) => {
    const store = await held(array, key);
    const part = slice(await openArray(store), {}, { maxMemory: "1 MB" });
    const [first, all] = await firstAndAll(part.bytes(), store);
    expect(first.equals(Buffer.from(items.buffer, 0, 2 * count))).toBe(true);
    expect(all.equals(Buffer.from(items.buffer))).toBe(true);
    expect(new Set(store.asked).size).toBe(store.asked.length);
  });

  it("come of a part with steps, beside chunks that are missing", async () => {
    const values = items.map((value, i) => (i % 200 < 50 ? 0 : value));
    const store = await held({ chunks: [2, 6, 50], values, fillValue: 0 }, "c/0/0/0", "c/0/0/1");
    const part = slice(await openArray(store), "1:4:2,:,10:190:3");
    const [first, all] = await firstAndAll(part.bytes(), store);
    // 14 items of the first chunk, which is missing, and 16 of the second
    expect(first).toHaveLength(2 * 30);
    expect([...new Uint16Array(new Uint8Array(all).buffer)]).toEqual([...(await part.read()).data]);
  });

  it("come of a file with a header, and of chunks as such", async () => {
    const store = await held({ chunks: [2, 6, 50] }, "c/0/0/0");
    const part = slice(await openArray(store));
    const pieces = npyPieces(part);
    await pieces.next();
    expect((await pieces.next()).value).toHaveLength(2 * 50);
    const chunks = part.chunks().getReader();
    expect((await chunks.read()).value?.region.start).toEqual([0, 0, 0]);
    store.isHeld = false;
    await pieces.return(undefined);
    await chunks.cancel();
  });

  it("do not come of what begins with a chunk that is not there", async () => {
    const store = await held({ chunks: [2, 6, 50] }, "c/0/0/1", "c/1/0/0");
    const reader = slice(await openArray(store))
      .bytes()
      .getReader();
    let isGiven = false;
    const first = reader.read().finally(() => {
      isGiven = true;
    });
    await until(() => store.asked.length === 8);
    await settled();
    expect(isGiven).toBe(false);
    store.isHeld = false;
    expect((await first).value?.subarray(0, 4)).toEqual(Uint8Array.of(0, 0, 1, 0));
    await reader.cancel();
  });

  it.each(["read", "chunks"])("%s() begins with as many requests as may be in flight", async (read) => {
    const store = await held({ chunks: [2, 6, 50] });
    const part = slice(await openArray(store), {}, { concurrency: 5 });
    const done = read === "read" ? part.read() : part.chunks().getReader().read();
    await until(() => store.asked.length === 5);
    store.isHeld = false;
    await done;
  });
});
