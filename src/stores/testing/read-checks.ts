import type { ByteRange } from "../../util/byte-range.ts";
import { equal, refuses, rejectsWith, returns } from "./assert.ts";
import { BAD_KEYS, check, DEFINED, type Filled, type StoreCheck, sample } from "./harness.ts";
import { show } from "./recorded-calls.ts";

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
