import { describe, expect, it } from "vitest";
import { defineStore } from "../../src/stores/define-store.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions, WritableStore } from "../../src/stores/store.ts";
import type { Filled } from "../../src/stores/testing/harness.ts";
import { type StoreHarness, storeChecks } from "../../src/stores/testing.ts";
import { type ByteRange, resolveRange } from "../../src/util/byte-range.ts";
import { streamFrom } from "../../src/util/web-streams.ts";

/** What the checks of a kind of store fail with. */
async function failuresOf(harness: StoreHarness): Promise<string[]> {
  const failures: string[] = [];
  for (const { run } of storeChecks(harness))
    await run().catch((error: Error) => failures.push(error.message));
  return failures;
}

type Get = (key: string, options?: GetOptions) => Promise<Uint8Array | undefined>;

/** A store in memory of which some methods are others, made of its own. */
const but = (change: (store: MemoryStore, get: Get) => Partial<WritableStore>) => () => {
  const store = new MemoryStore();
  return Object.assign(store, change(store, store.get.bind(store)));
};

/** A store in memory that reads another range than it is asked for. */
const reading = (other: (range: ByteRange) => ByteRange | undefined) =>
  but((_, get) => ({
    get: (key, { range, ...options } = {}) => get(key, { ...options, range: range && other(range) }),
  }));

const paddingRanges = but((_, get) => ({
  async get(key, { range, ...options } = {}) {
    const value = await get(key, options);
    if (value === undefined || range === undefined) return value;
    const { offset } = resolveRange(range, value.length);
    const part = new Uint8Array("suffix" in range ? range.suffix : (range.length ?? value.length - offset));
    part.set(value.subarray(offset, offset + part.length));
    return part;
  },
}));

const keepingBuffers = but((store, get) => {
  const kept = new Map<string, Uint8Array>();
  const set = store.set.bind(store);
  return {
    set: (key, bytes, options) => set(key, bytes, options).then(() => void kept.set(key, bytes)),
    async get(key, options) {
      const value = await get(key, options);
      const now = kept.get(key);
      if (value && now && !options) value.set(now);
      return value;
    },
  };
});

const visibleEarly = but((store) => {
  const openWriter = store.openWriter.bind(store);
  return {
    async openWriter(key, options) {
      const writer = await openWriter(key, options);
      const write = (bytes: Uint8Array) => writer.write(bytes).then(() => store.set(key, bytes));
      return { ...writer, write };
    },
  };
});

const wrongSizes = but((store) => {
  const size = store.size.bind(store);
  return { size: async (key, options) => ((found) => found && found + 1)(await size(key, options)) };
});

const refusingToDelete = but((store, get) => {
  const remove = store.delete.bind(store);
  return {
    async delete(key, options) {
      if ((await get(key)) === undefined) throw new Error("nothing to delete");
      await remove(key, options);
    },
  };
});

const failIfMissing = (key: string, value: Uint8Array | undefined) => {
  if (value === undefined) throw new Error(`404 for ${key}`);
  return value;
};

describe("storeChecks", () => {
  const PART =
    'get("ten", { range: { offset: 2, length: 3 } }): expected 3 bytes (from byte 2 of the value on), found';

  it.each<[string, () => WritableStore, ...words: string[]]>([
    [
      "the range is ignored",
      reading(() => undefined),
      `ranges are cut at the end of the value: ${PART} 10 bytes (the whole value)`,
    ],
    [
      "the length of a range is taken for its end",
      reading((range) =>
        "offset" in range && range.length !== undefined
          ? { ...range, length: Math.max(0, range.length - range.offset) }
          : range,
      ),
      `${PART} 1 byte (from byte 2 of the value on)`,
    ],
    [
      "a suffix is taken from the beginning",
      reading((range) => ("suffix" in range ? { offset: 0, length: range.suffix } : range)),
      'get("ten", { range: { suffix: 4 } }): expected 4 bytes (from byte 6 of the value on), found 4 bytes (from byte 0 of the value on): they differ from byte 0 on',
    ],
    [
      "ranges are filled up with zeros",
      paddingRanges,
      'get("ten", { range: { offset: 7, length: 100 } }): expected 3 bytes (from byte 7 of the value on), found 100 bytes (da f9 18 00',
    ],
    [
      "a missing value is empty",
      but((_, get) => ({ get: async (...call) => (await get(...call)) ?? new Uint8Array() })),
      'a missing key is undefined, also a folder and a key below a value: get("none"): expected undefined, found 0 bytes',
    ],
    [
      "a missing value is an error",
      but((_, get) => ({ get: async (key, options) => failIfMissing(key, await get(key, options)) })),
      'get("none"): expected undefined, found the error Error: 404 for none',
    ],
    [
      "sizes are wrong",
      wrongSizes,
      'size returns the number of bytes of a value: size("ten"): expected 10, found 11',
      'listings give the right sizes: list(""): the size of "a-b": expected 2, found 1',
    ],
    [
      "keys are not checked",
      but((_, get) => ({ get: (key, options) => get(key.replace(/^\/+/, "") || "none", options) })),
      'invalid keys are rejected: get(""): expected a ZarrflowError with the code path-not-allowed, found undefined. `defineStore` takes care of that.',
    ],
    [
      "the signal is ignored",
      but((_, get) => ({ get: (key, { signal: _, ...options } = {}) => get(key, options) })),
      'get("ten", { signal }): expected the given reason as an error, found 10 bytes (01 20 3f 5e',
    ],
    [
      "allocate is ignored",
      but((_, get) => ({ get: (key, { range, signal } = {}) => get(key, { range, signal }) })),
      'get("ten", { range: { offset: 2, length: 3 }, allocate }): the number of calls of allocate: expected 1, found 0',
    ],
    [
      "buffers of the caller are kept",
      keepingBuffers,
      'the caller may reuse the buffer after set: get("7"): expected 7 bytes (',
      "Copy the bytes that `set` is given.",
    ],
    [
      "a writer publishes pieces",
      visibleEarly,
      'a value is not visible before commit: get("old"): expected 9 bytes (',
      "A writer publishes its value when it is committed.",
      "An aborted writer leaves the value as it was.",
    ],
    [
      "deleting a missing key fails",
      refusingToDelete,
      'removing an absent key succeeds: delete("none") failed with the error Error: nothing to delete',
    ],
  ])("say what is wrong where %s", async (_, make, ...expected) => {
    const failures = (await failuresOf({ lists: true, empty: async () => make() })).join("\n");
    for (const words of expected) expect(failures).toContain(words);
  });

  it.each<[string, (keys: string[]) => string[], ...words: string[]]>([
    [
      "lacks a key",
      (keys) => keys.slice(1),
      'list lists every key once, sorted by UTF-8 bytes: list(""): expected [',
      'found [".zgroup"] missing',
    ],
    ["has another", (keys) => [...keys, "zz"], 'found ["zz"] too'],
    ["has a key twice", (keys) => [...keys, ...keys.slice(0, 1)], 'found [".zgroup"] more than once'],
    ["is not sorted", (keys) => keys.reverse(), "not sorted by UTF-8 bytes"],
    ["is in JavaScript's order", (keys) => keys.sort(), 'found "😀" where "～/x" should be: not sorted'],
  ])("say what is wrong where a listing %s", async (_, change, ...expected) => {
    const filled: Filled = async (values) => {
      const store = defineStore({ get: (key) => values.get(key), list: () => values.keys() });
      const keys = (prefix: string) => change([...values.keys()].filter((key) => key.startsWith(prefix)));
      return { ...store, list: (prefix: string) => streamFrom(keys(prefix).map((key) => ({ key }))) };
    };
    const failures = (await failuresOf({ lists: true, filled })).join("\n");
    for (const words of expected) expect(failures).toContain(words);
  });

  it("say that a store cannot list", async () => {
    const filled: Filled = async (values) => defineStore({ get: (key) => values.get(key) });
    const [failure] = await failuresOf({ lists: true, filled });
    expect(failure).toMatch(/^list lists every key once.*: the store has no `list` or no `listDirectory`$/);
  });

  it("keep what a store threw as cause", async () => {
    const failure = new Error("away");
    const get = () => Promise.reject(failure);
    const [whole] = storeChecks({ lists: false, filled: async () => defineStore({ get }) });
    await expect(whole?.run()).rejects.toMatchObject({
      message:
        'get returns whole values, also empty and long ones: get("ten"): expected 10 bytes (01 20 3f 5e 7d 9c bb da f9 18), found the error Error: away',
      cause: failure,
    });
  });

  it("are of a kind that can be filled, or written", () => {
    expect(() => storeChecks({ lists: true })).toThrow(
      expect.objectContaining({
        code: "invalid-option",
        details: { expected: "`filled`, `empty` or both", found: "undefined" },
      }),
    );
  });
});
