import type { ByteRange } from "../../util/byte-range.ts";
import { equal, refuses, rejectsWith } from "./assert.ts";
import { BAD_KEYS, check, type StoreCheck, type StoreHarness, sample } from "./harness.ts";

const TEN = sample(10);
const LONG = sample(300_000, 5);
const VALUES = new Map([
  ["ten", TEN],
  ["nothing", new Uint8Array(0)],
  ["group/.zattrs", sample(3, 9)],
  ["group/deep/c/0/0", LONG],
]);

/** Each range of the value "ten", and what it gives. */
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

export function readChecks(harness: StoreHarness): StoreCheck[] {
  const open = () => harness.filled(VALUES);
  return [
    check("get returns whole values, also empty and long ones", open, async (store) => {
      for (const [key, value] of VALUES) equal(await store.get(key), value, key);
    }),
    check("a missing key is undefined, also a folder and a key below a value", open, async (store) => {
      for (const key of ["none", "group", "group/deep/c", "group/none", "none/none", "ten/below"]) {
        equal(await store.get(key), undefined, `get ${key}`);
        equal(await store.get(key, { range: { suffix: 1 } }), undefined, `a range of ${key}`);
        equal(await store.size(key), undefined, `size ${key}`);
      }
    }),
    check("size returns the number of bytes of a value", open, async (store) => {
      for (const [key, value] of VALUES) equal(await store.size(key), value.length, key);
    }),
    check("ranges are cut at the end of the value", open, async (store) => {
      for (const [range, expected] of RANGES) {
        equal(await store.get("ten", { range }), expected, JSON.stringify(range));
      }
      equal(
        await store.get("nothing", { range: { offset: 0, length: 5 } }),
        new Uint8Array(0),
        "of an empty value",
      );
      const inside = { offset: 123_456, length: 70_000 };
      equal(
        await store.get("group/deep/c/0/0", { range: inside }),
        LONG.subarray(123_456, 193_456),
        "a long one",
      );
    }),
    check("a value is read into the buffer that allocate returns, and not beyond it", open, async (store) => {
      for (const [range, expected] of [...RANGES, [undefined, TEN] as const]) {
        const memory = new Uint8Array(64).fill(0xee);
        const asked: number[] = [];
        const bytes = await store.get("ten", {
          range,
          allocate(length) {
            asked.push(length);
            return memory.subarray(20, 20 + length);
          },
        });
        equal(asked, [expected.length], "lengths asked for");
        equal(
          bytes?.buffer === memory.buffer && bytes.byteOffset === 20,
          true,
          "the buffer is the given one",
        );
        const around = new Uint8Array(64).fill(0xee);
        around.set(expected, 20);
        equal(memory, around, "the memory around it");
      }
    }),
    check("allocate is not called for a missing key, and its failure comes through", open, async (store) => {
      const failure = new Error("no room");
      const allocate = () => {
        throw failure;
      };
      equal(await store.get("none", { allocate }), undefined, "a missing key");
      await rejectsWith(store.get("ten", { allocate }), failure, "a failing allocate");
    }),
    check("the caller may change what get returned", open, async (store) => {
      (await store.get("ten"))?.fill(0);
      equal(await store.get("ten"), TEN, "the value read again");
    }),
    check("concurrent reads do not mix", open, async (store) => {
      const ranges = Array.from({ length: 40 }, (_, i) => ({ offset: i * 7000, length: 5000 }));
      const reads = ranges.map((range) => store.get("group/deep/c/0/0", { range }));
      for (const [i, bytes] of (await Promise.all(reads)).entries()) {
        equal(bytes, LONG.subarray(i * 7000, i * 7000 + 5000), `read ${i}`);
      }
    }),
    check("invalid keys are rejected", open, async (store) => {
      for (const key of BAD_KEYS) {
        await refuses(store.get(key), "path-not-allowed", `get ${JSON.stringify(key)}`);
        await refuses(store.size(key), "path-not-allowed", `size ${JSON.stringify(key)}`);
      }
    }),
    check("names of JavaScript properties are ordinary keys", open, async (store) => {
      for (const key of ["__proto__", "constructor", "group/__proto__", "toString"]) {
        equal(await store.get(key), undefined, key);
      }
    }),
    check(
      "an aborted signal's reason is passed on, perhaps as the cause of `aborted`",
      open,
      async (store) => {
        const reason = { why: "enough" };
        const signal = AbortSignal.abort(reason);
        await rejectsWith(store.get("ten", { signal }), reason, "get");
        await rejectsWith(store.size("ten", { signal }), reason, "size");
      },
    ),
  ];
}
