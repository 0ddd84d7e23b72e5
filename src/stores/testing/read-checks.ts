import type { ByteRange } from "../../util/byte-range.ts";
import { isListable, type ListableStore } from "../store.ts";
import { equal, listedNames, lists, refuses, rejectsWith, returns } from "./assert.ts";
import { BAD_KEYS, check, DEFINED, type Filled, type StoreCheck, sample } from "./harness.ts";
import { show } from "./recorded-calls.ts";

/** Sorted by UTF-8 bytes; JavaScript would sort the last two the other way round. */
const KEYS = [
  ".zgroup",
  "a-b",
  "a.b",
  "a/.zarray",
  "a/0.0",
  "a/0.1",
  "a/10.0",
  "a/deep/er/0",
  "a/deep.er",
  "a0",
  "été",
  "\uff5e/x",
  "\u{1f600}",
].sort(byUtf8);

function byUtf8(a: string, b: string): number {
  const [x, y] = [a, b].map((text) => new TextEncoder().encode(text));
  for (let i = 0; ; i++) {
    const [m, n] = [x?.[i], y?.[i]];
    if (m === undefined || n === undefined) return (x?.length ?? 0) - (y?.length ?? 0);
    if (m !== n) return m - n;
  }
}

export function listChecks(filled: Filled): StoreCheck[] {
  const opened = (keys: readonly string[]) => async (): Promise<ListableStore> => {
    const store = await filled(new Map(keys.map((key, i) => [key, sample(i)])));
    if (!isListable(store)) throw new Error("the store has no `list` or no `listDirectory`");
    return store;
  };
  const open = opened(KEYS);
  return [
    check("list lists every key once, sorted by UTF-8 bytes", open, async (store) => {
      await lists(store.list(""), KEYS);
      await lists(
        store.list("a/"),
        KEYS.filter((key) => key.startsWith("a/")),
      );
      await lists(store.list("a/deep/er/"), ["a/deep/er/0"]);
      for (const prefix of ["none/", "a0/", "a/deep/none/"]) await lists(store.list(prefix), []);
    }),
    check("listDirectory lists one level, each prefix once, sorted by UTF-8 bytes", open, async (store) => {
      const root = [".zgroup", "a-b", "a.b", "a/", "a0", "été", "\uff5e/", "\u{1f600}"];
      await lists(store.listDirectory(""), root);
      const below = ["a/.zarray", "a/0.0", "a/0.1", "a/10.0", "a/deep.er", "a/deep/"];
      await lists(store.listDirectory("a/"), below);
      for (const prefix of ["none/", "a0/"]) await lists(store.listDirectory(prefix), []);
    }),
    check("listings give the right sizes", open, async (store) => {
      for await (const { key, size } of store.list("")) {
        if (size !== undefined) equal(size, await store.size(key), `list(""): the size of ${show(key)}`);
      }
      for await (const entry of store.listDirectory("a/")) {
        if ("key" in entry && entry.size !== undefined)
          equal(
            entry.size,
            await store.size(entry.key),
            `listDirectory("a/"): the size of ${show(entry.key)}`,
          );
      }
    }),
    check("a store without keys lists nothing", opened([]), async (store) => {
      await lists(store.list(""), []);
      await lists(store.listDirectory(""), []);
    }),
    check("a listing may be ended early", open, async (store) => {
      for await (const { key } of store.list("a/")) {
        equal(key, "a/.zarray", 'list("a/"): the first key');
        break;
      }
      await store.listDirectory("").cancel();
      await lists(store.list(""), KEYS);
    }),
    check("invalid prefixes are rejected", open, async (store) => {
      const bad = ["a", ...BAD_KEYS.filter((key) => key !== "" && key !== "a/").map((key) => `${key}/`)];
      for (const prefix of bad) {
        for (const name of ["list", "listDirectory"] as const) {
          const names = async () => listedNames(store[name](prefix));
          const call = `${name}(${show(prefix)})`;
          await refuses(names(), "path-not-allowed", { call, hint: DEFINED });
        }
      }
    }),
    check("an aborted signal ends a listing with its reason", open, async (store) => {
      const reason = { why: "enough" };
      const signal = AbortSignal.abort(reason);
      for (const name of ["list", "listDirectory"] as const) {
        const names = async () => listedNames(store[name]("", { signal }));
        await rejectsWith(names(), reason, `${name}("", { signal })`);
      }
      const controller = new AbortController();
      const abortMidway = async () => {
        for await (const _ of store.list("", { signal: controller.signal })) controller.abort(reason);
      };
      await rejectsWith(abortMidway(), reason, 'list("", { signal }), aborted at the first key');
    }),
  ];
}

const TEN = sample(10);
const LONG = sample(300_000, 5);
const VALUES = new Map([
  ["ten", TEN],
  ["nothing", new Uint8Array(0)],
  ["group/.zattrs", sample(3, 9)],
  ["group/deep/c/0/0", LONG],
]);

/** Ranges of the value "ten", with their bytes. */
const RANGES: readonly (readonly [ByteRange, Uint8Array])[] = [
  [{ offset: 2, length: 3 }, TEN.subarray(2, 5)],
  [{ offset: 4 }, TEN.subarray(4)],
  [{ offset: 0, length: 10 }, TEN],
  [{ offset: 7, length: 100 }, TEN.subarray(7)],
  [{ offset: 3, length: 0 }, TEN.subarray(0, 0)],
  [{ offset: 10 }, TEN.subarray(0, 0)],
  [{ offset: 99, length: 5 }, TEN.subarray(0, 0)],
  [{ suffix: 4 }, TEN.subarray(6)],
  [{ suffix: 99 }, TEN],
  [{ suffix: 0 }, TEN.subarray(0, 0)],
];

export function readChecks(filled: Filled): StoreCheck[] {
  const open = () => filled(VALUES);
  return [
    check("get returns whole values, also empty and long ones", open, async (store) => {
      for (const [key, value] of VALUES) await returns(store.get(key), value);
    }),
    check("a missing key is undefined, also a folder and a key below a value", open, async (store) => {
      for (const key of ["none", "group", "group/deep/c", "group/none", "none/none", "ten/below"]) {
        await returns(store.get(key), undefined);
        await returns(store.get(key, { range: { suffix: 1 } }), undefined);
        await returns(store.size(key), undefined);
      }
    }),
    check("size returns the number of bytes of a value", open, async (store) => {
      for (const [key, value] of VALUES) await returns(store.size(key), value.length);
    }),
    check("ranges are cut at the end of the value", open, async (store) => {
      for (const [range, expected] of RANGES)
        await returns(store.get("ten", { range }), expected, { of: TEN });
      await returns(store.get("nothing", { range: { offset: 0, length: 5 } }), new Uint8Array(0));
      const inside = { offset: 123_456, length: 70_000 };
      await returns(store.get("group/deep/c/0/0", { range: inside }), LONG.subarray(123_456, 193_456));
    }),
    check("a value is read into the buffer that allocate returns, and not beyond it", open, async (store) => {
      for (const [range, expected] of [...RANGES, [undefined, TEN] as const]) {
        const memory = new Uint8Array(64).fill(0xee);
        const asked: number[] = [];
        const options = {
          range,
          allocate(length: number) {
            asked.push(length);
            return memory.subarray(20, 20 + length);
          },
        };
        const call = `get("ten", ${show(options)})`;
        const bytes = await store.get("ten", options);
        equal(asked.length, 1, `${call}: the number of calls of allocate`);
        equal(asked[0], expected.length, `${call}: the length that allocate is asked for`);
        const isGiven = bytes?.buffer === memory.buffer && bytes.byteOffset === 20;
        equal(isGiven, true, `${call}: whether it returns the buffer of allocate`);
        const around = new Uint8Array(64).fill(0xee);
        around.set(expected, 20);
        const isKept = memory.every((byte, i) => byte === around[i]);
        equal(isKept, true, `${call}: whether the buffer has the bytes, and nothing else was written`);
      }
    }),
    check("allocate is not called for a missing key, and its failure comes through", open, async (store) => {
      const failure = new Error("no room");
      const allocate = () => {
        throw failure;
      };
      await returns(store.get("none", { allocate }), undefined);
      await rejectsWith(store.get("ten", { allocate }), failure);
    }),
    check("the caller may change what get returned", open, async (store) => {
      (await store.get("ten"))?.fill(0);
      await returns(store.get("ten"), TEN, { hint: "Return a copy." });
    }),
    check("concurrent reads do not mix", open, async (store) => {
      const ranges = Array.from({ length: 40 }, (_, i) => ({ offset: i * 7000, length: 5000 }));
      const reads = ranges.map((range) => store.get("group/deep/c/0/0", { range }));
      await Promise.all(reads.map((read, i) => returns(read, LONG.subarray(i * 7000, i * 7000 + 5000))));
    }),
    check("invalid keys are rejected", open, async (store) => {
      for (const key of BAD_KEYS) {
        await refuses(store.get(key), "path-not-allowed", { hint: DEFINED });
        await refuses(store.size(key), "path-not-allowed", { hint: DEFINED });
      }
    }),
    check("names of JavaScript properties are ordinary keys", open, async (store) => {
      const hint = "Keep values in a Map, not in an object.";
      for (const key of ["__proto__", "constructor", "group/__proto__", "toString"]) {
        await returns(store.get(key), undefined, { hint });
      }
    }),
    check(
      "an aborted signal's reason is passed on, perhaps as the cause of `aborted`",
      open,
      async (store) => {
        const reason = { why: "enough" };
        const signal = AbortSignal.abort(reason);
        await rejectsWith(store.get("ten", { signal }), reason);
        await rejectsWith(store.size("ten", { signal }), reason);
      },
    ),
  ];
}
