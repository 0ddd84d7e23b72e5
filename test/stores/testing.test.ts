import { describe, expect, it } from "vitest";
import { defineStore } from "../../src/stores/define-store.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions, StoreOptions, WritableStore } from "../../src/stores/store.ts";
import { type StoreHarness, storeChecks } from "../../src/stores/testing.ts";
import { resolveRange } from "../../src/util/byte-range.ts";
import { streamFrom } from "../../src/util/web-streams.ts";

/** What the checks of a kind of store fail with. */
async function failuresOf(harness: StoreHarness): Promise<string[]> {
  const failures: string[] = [];
  for (const { run } of storeChecks(harness))
    await run().catch((error: Error) => failures.push(error.message));
  return failures;
}

/** The values of a store by key, for stores that read and write them in ways of their own. */
const held = (store: WritableStore, key: string) => MemoryStore.prototype.get.call(store, key);

class IgnoringRanges extends MemoryStore {
  override get(key: string, { range: _, ...options }: GetOptions = {}) {
    return super.get(key, options);
  }
}

class RangesToEnd extends MemoryStore {
  override get(key: string, { range, ...options }: GetOptions = {}) {
    const isPart = range !== undefined && "offset" in range && range.length !== undefined;
    const wrong = isPart ? { ...range, length: Math.max(0, (range.length ?? 0) - range.offset) } : range;
    return super.get(key, { ...options, range: wrong });
  }
}

class FirstBytesAsSuffix extends MemoryStore {
  override get(key: string, { range, ...options }: GetOptions = {}) {
    const isSuffix = range !== undefined && "suffix" in range;
    return super.get(key, { ...options, range: isSuffix ? { offset: 0, length: range.suffix } : range });
  }
}

class Padding extends MemoryStore {
  override async get(key: string, { range, ...options }: GetOptions = {}) {
    const value = await super.get(key, options);
    if (value === undefined || range === undefined) return value;
    const { offset } = resolveRange(range, value.length);
    const part = new Uint8Array("suffix" in range ? range.suffix : (range.length ?? value.length - offset));
    part.set(value.subarray(offset, offset + part.length));
    return part;
  }
}

class EmptyIfMissing extends MemoryStore {
  override async get(key: string, options?: GetOptions) {
    return (await super.get(key, options)) ?? new Uint8Array();
  }
}

class FailingIfMissing extends MemoryStore {
  override async get(key: string, options?: GetOptions) {
    const value = await super.get(key, options);
    if (value === undefined) throw new Error(`404 for ${key}`);
    return value;
  }
}

class SizeOfText extends MemoryStore {
  override async size(key: string, options?: StoreOptions) {
    const size = await super.size(key, options);
    return size && size + 1;
  }
}

class AnyKey extends MemoryStore {
  override get(key: string, options?: GetOptions) {
    return super.get(key.replace(/^\/+/, "") || "none", options);
  }
}

class IgnoringSignal extends MemoryStore {
  override get(key: string, { signal: _, ...options }: GetOptions = {}) {
    return super.get(key, options);
  }
}

class IgnoringAllocate extends MemoryStore {
  override get(key: string, { range, signal }: GetOptions = {}) {
    return super.get(key, { range, signal });
  }
}

class KeepingBuffers extends MemoryStore {
  readonly #values = new Map<string, Uint8Array>();
  override async set(key: string, bytes: Uint8Array, options?: StoreOptions) {
    await super.set(key, bytes, options);
    this.#values.set(key, bytes);
  }
  override async get(key: string, options?: GetOptions) {
    const value = await super.get(key, options);
    const kept = this.#values.get(key);
    if (value && kept && !options) value.set(kept);
    return value;
  }
}

class VisibleEarly extends MemoryStore {
  override async openWriter(key: string, options?: StoreOptions) {
    const writer = await super.openWriter(key, options);
    const write = async (bytes: Uint8Array) => {
      await writer.write(bytes);
      await this.set(key, bytes);
    };
    return { ...writer, write };
  }
}

class RefusingToDelete extends MemoryStore {
  override async delete(key: string, options?: StoreOptions) {
    if ((await held(this, key)) === undefined) throw new Error("nothing to delete");
    await super.delete(key, options);
  }
}

const kept = (make: () => WritableStore): StoreHarness => ({ lists: true, empty: async () => make() });

describe("storeChecks", () => {
  it.each<[string, () => WritableStore, readonly string[]]>([
    [
      "the range is ignored",
      () => new IgnoringRanges(),
      [
        'ranges are cut at the end of the value: get("ten", { range: { offset: 2, length: 3 } }): expected 3 bytes (from byte 2 of the value on), found 10 bytes (the whole value)',
      ],
    ],
    [
      "the length of a range is taken for its end",
      () => new RangesToEnd(),
      [
        'get("ten", { range: { offset: 2, length: 3 } }): expected 3 bytes (from byte 2 of the value on), found 1 byte (from byte 2 of the value on)',
      ],
    ],
    [
      "a suffix is taken from the beginning",
      () => new FirstBytesAsSuffix(),
      [
        'get("ten", { range: { suffix: 4 } }): expected 4 bytes (from byte 6 of the value on), found 4 bytes (from byte 0 of the value on): they differ from byte 0 on',
      ],
    ],
    [
      "ranges are filled up with zeros",
      () => new Padding(),
      [
        'get("ten", { range: { offset: 7, length: 100 } }): expected 3 bytes (from byte 7 of the value on), found 100 bytes (da f9 18 00',
      ],
    ],
    [
      "a missing value is empty",
      () => new EmptyIfMissing(),
      [
        'a missing key is undefined, also a folder and a key below a value: get("none"): expected undefined, found 0 bytes',
      ],
    ],
    [
      "a missing value is an error",
      () => new FailingIfMissing(),
      ['get("none"): expected undefined, found the error Error: 404 for none'],
    ],
    [
      "sizes are wrong",
      () => new SizeOfText(),
      [
        'size returns the number of bytes of a value: size("ten"): expected 10, found 11',
        'listings give the right sizes: list(""): the size of "a-b": expected 2, found 1',
      ],
    ],
    [
      "keys are not checked",
      () => new AnyKey(),
      [
        'invalid keys are rejected: get(""): expected a ZarrflowError with the code path-not-allowed, found undefined. `defineStore` takes care of that.',
      ],
    ],
    [
      "the signal is ignored",
      () => new IgnoringSignal(),
      ['get("ten", { signal }): expected the given reason as an error, found 10 bytes (01 20 3f 5e'],
    ],
    [
      "allocate is ignored",
      () => new IgnoringAllocate(),
      [
        'get("ten", { range: { offset: 2, length: 3 }, allocate }): the number of calls of allocate: expected 1, found 0',
      ],
    ],
    [
      "buffers of the caller are kept",
      () => new KeepingBuffers(),
      [
        'the caller may reuse the buffer after set: get("7"): expected 7 bytes (',
        "Copy the bytes that `set` is given.",
      ],
    ],
    [
      "a writer publishes pieces",
      () => new VisibleEarly(),
      [
        'a value is not visible before commit: get("old"): expected 9 bytes (',
        "A writer publishes its value when it is committed.",
        "An aborted writer leaves the value as it was.",
      ],
    ],
    [
      "deleting a missing key fails",
      () => new RefusingToDelete(),
      ['removing an absent key succeeds: delete("none") failed with the error Error: nothing to delete'],
    ],
  ])("say what is wrong where %s", async (_, make, expected) => {
    const failures = (await failuresOf(kept(make))).join("\n");
    for (const words of expected) expect(failures).toContain(words);
  });

  /** A store over values whose listings are wrong. */
  const listed = (change: (keys: string[]) => string[]): StoreHarness => ({
    lists: true,
    async filled(values) {
      const store = defineStore({ get: (key) => values.get(key), list: () => values.keys() });
      return {
        ...store,
        list: (prefix: string) =>
          streamFrom(
            change([...values.keys()].filter((key) => key.startsWith(prefix))).map((key) => ({ key })),
          ),
      };
    },
  });

  it.each<[string, (keys: string[]) => string[], string]>([
    [
      "lacks a key",
      (keys) => keys.slice(1),
      'list lists every key once, sorted by UTF-8 bytes: list(""): expected [',
    ],
    ["lacks a key", (keys) => keys.slice(1), 'found [".zgroup"] missing'],
    ["has another", (keys) => [...keys, "zz"], 'found ["zz"] too'],
    ["has a key twice", (keys) => [...keys, ...keys.slice(0, 1)], 'found [".zgroup"] more than once'],
    ["is not sorted", (keys) => keys.reverse(), "not sorted by UTF-8 bytes"],
    ["is in JavaScript's order", (keys) => keys.sort(), 'found "😀" where "～/x" should be: not sorted'],
  ])("say what is wrong where a listing %s", async (_, change, words) => {
    expect((await failuresOf(listed(change))).join("\n")).toContain(words);
  });

  it("say that a store cannot list", async () => {
    const filled = async (values: ReadonlyMap<string, Uint8Array>) =>
      defineStore({ get: (key) => values.get(key) });
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
