import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Keyed, mergeListings, type Pair } from "../../../src/flows/update/differing-keys.ts";
import { isSameSync, sameValue } from "../../../src/flows/update/same-value.ts";
import type { MemoryStore } from "../../../src/stores/memory.ts";
import type { KeyEntry } from "../../../src/stores/store.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { BufferPool } from "../../../src/streams/buffer-pool.ts";
import { ByteBudget } from "../../../src/streams/byte-budget.ts";
import { crc32 } from "../../../src/util/crc32.ts";
import { compareUtf8 } from "../../../src/util/names.ts";
import { all } from "../../support/consume.ts";
import { givenKeys } from "../../support/given.ts";

async function* entries(keys: Iterable<string>, onEnd = () => {}): AsyncGenerator<Keyed> {
  try {
    for (const key of keys) yield { key, listed: { key, size: key.length } };
  } finally {
    onEnd();
  }
}

const merged = (left: Iterable<string>, right: Iterable<string>): Promise<Pair[]> =>
  all(mergeListings(entries(left), entries(right)));

describe("mergeListings", () => {
  test("gives every key once, in order, with what each side has", async () => {
    const keys = fc.uniqueArray(fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }));
    await fc.assert(
      fc.asyncProperty(keys, keys, async (a, b) => {
        const pairs = await merged([...a].sort(compareUtf8), [...b].sort(compareUtf8));
        const all = [...new Set([...a, ...b])].sort(compareUtf8);
        expect(pairs.map(({ key }) => key)).toEqual(all);
        for (const { key, left, right } of pairs)
          expect([left?.key, right?.key]).toEqual(
            [a, b].map((keys) => (keys.includes(key) ? key : undefined)),
          );
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    [["b", "a"], []],
    [[], ["a", "b", "b"]],
    [["\u{1f600}", "\uff5e"], ["a"]],
  ])("refuses listings that are not sorted: %j %j", async (left, right) => {
    await expect(merged(left, right)).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  test("ends both listings when it is left, and reads no further than it must", async () => {
    const ended: string[] = [];
    let read = 0;
    const counting = function* () {
      for (; read < 1000; ) yield String(read++).padStart(4, "0");
    };
    const pairs = mergeListings(
      entries(counting(), () => ended.push("left")),
      entries(["0001", "0002"], () => ended.push("right")),
    );
    for await (const { key } of pairs) if (key === "0003") break;
    expect(ended.sort()).toEqual(["left", "right"]);
    expect(read).toBeLessThan(7);
  });
});

const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
const other = bytes.with(99_999, 7);
const md5 = (value: Uint8Array) => createHash("md5").update(value).digest("hex");

type Listed = readonly [Omit<KeyEntry, "key">, Omit<KeyEntry, "key">];

/** Compares two values, and tells which of them were read. */
async function compared(a: Uint8Array, b: Uint8Array, listed: Listed): Promise<string> {
  const read = new Set<string>();
  const storeOf = async (name: string, k: Uint8Array) =>
    withRequestLog(await givenKeys({ k }), ({ operation }) => operation === "get" && read.add(name));
  const [left, right] = [await storeOf("left", a), await storeOf("right", b)];
  const options = { budget: new ByteBudget(64_000), buffers: new BufferPool(64_000) };
  const same = await sameValue(
    { store: left, listed: { key: "k", ...listed[0] } },
    { store: right, listed: { key: "k", ...listed[1] } },
    options,
  );
  expect(options.budget.leased).toBe(0);
  expect(options.buffers.taken).toBe(0);
  return `${same ? "same" : "other"}, read: ${[...read].sort().join(" and ")}`;
}

describe("values are the same", () => {
  const crcs = [crc32(bytes), crc32(other)];
  const [right, wrong] = [md5(bytes), md5(other)];
  const of = (name: "crc32" | "etag", value: unknown) => ({ [name]: value });

  test.each<[string, ...(readonly [Uint8Array, Uint8Array, Listed, string])[]]>([
    [
      "by sizes, listed or asked for, without reading",
      [bytes, bytes.subarray(1), [{}, {}], "other, read: "],
      [bytes, bytes, [{ size: 5 }, { size: 6 }], "other, read: "],
    ],
    [
      "by bytes where listings tell nothing, within the budget",
      [bytes, bytes, [{}, {}], "same, read: left and right"],
      [bytes, other, [{}, {}], "other, read: left and right"],
      [new Uint8Array(), new Uint8Array(), [{}, {}], "same, read: left and right"],
    ],
    [
      "by CRC-32 of both listings, or of one and the other's bytes",
      [bytes, bytes, [of("crc32", crcs[0]), of("crc32", crcs[0])], "same, read: "],
      [bytes, bytes, [of("crc32", crcs[0]), of("crc32", crcs[1])], "other, read: "],
      [bytes, bytes, [of("crc32", crcs[0]), {}], "same, read: right"],
      [bytes, other, [{}, of("crc32", crcs[1])], "other, read: left"],
    ],
    [
      "by MD5 of both listings, or of one and the other's bytes",
      [bytes, bytes, [of("etag", right), of("etag", right.toUpperCase())], "same, read: "],
      [bytes, other, [of("etag", right), of("etag", wrong)], "other, read: "],
      [bytes, bytes, [{}, of("etag", right)], "same, read: left"],
      [bytes, other, [{}, of("etag", wrong)], "other, read: left"],
      [bytes, bytes, [of("etag", right), of("etag", `${wrong}-2`)], "same, read: right"],
      // what is no object of a bucket is read, where each side has another checksum
      [bytes, bytes, [of("crc32", crcs[0]), of("etag", right)], "same, read: left"],
    ],
    [
      "by no tags of other forms",
      [bytes, other, [of("etag", "1"), of("etag", "1")], "other, read: left and right"],
      [bytes, bytes, [of("etag", "1"), of("etag", "2")], "same, read: left and right"],
      [bytes, bytes, [of("etag", `${right}-3`), of("etag", `${right}-3`)], "same, read: "],
    ],
  ])("%s", async (_, ...rows) => {
    for (const [a, b, listed, expected] of rows) expect(await compared(a, b, listed)).toBe(expected);
  });
});

describe("isSameSync", () => {
  const small = bytes.subarray(0, 1000);
  const told = (a: Uint8Array, b: Uint8Array, listed: Listed = [{}, {}]) => {
    const [left, right] = [a, b].map((value, side) => ({
      store: {
        getSync: (_: string, { into }: { into: Uint8Array }) => {
          if (value.length > into.length) return undefined;
          into.set(value);
          return { bytes: into.subarray(0, value.length) };
        },
      } as unknown as MemoryStore,
      listed: { key: "k", ...listed[side] },
    }));
    if (!left || !right) throw new Error("no values");
    return isSameSync(left, right, [new Uint8Array(2000), new Uint8Array(2000)]);
  };

  test("finds what is surely the same, by bytes or by listings", () => {
    const crc = { size: 1000, crc32: crc32(small) };
    expect(told(small, small)).toBe(true);
    expect(told(small, small, [crc, {}])).toBe(true);
    expect(told(small, small, [{}, crc])).toBe(true);
    const large = { ...crc, size: 100_000 };
    expect(told(bytes, bytes, [large, large])).toBe(true);
  });

  test("takes every doubt for a difference", () => {
    const crc = { size: 1000, crc32: crc32(small) };
    expect(told(bytes, bytes)).toBe(false);
    expect(told(small, small.with(999, 0))).toBe(false);
    expect(told(small, small.subarray(1))).toBe(false);
    expect(told(small, small.with(0, 9), [crc, {}])).toBe(false);
    expect(told(small, small, [{ size: 1000 }, { size: 999 }])).toBe(false);
    expect(told(small, small, [crc, { ...crc, crc32: 1 }])).toBe(false);
  });
});
