import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isSameSync, sameValue } from "../../../src/flows/update/same-value.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { KeyEntry } from "../../../src/stores/store.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { BufferPool } from "../../../src/streams/buffer-pool.ts";
import { ByteBudget } from "../../../src/streams/byte-budget.ts";
import { crc32 } from "../../../src/util/crc32.ts";

const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
const other = bytes.with(99_999, 7);
const md5 = (value: Uint8Array) => createHash("md5").update(value).digest("hex");

/** Compares two values, and tells which of them were read. */
async function compared(
  a: Uint8Array,
  b: Uint8Array,
  listed: readonly [Omit<KeyEntry, "key">, Omit<KeyEntry, "key">],
): Promise<{ same: boolean; read: string[] }> {
  const read = new Set<string>();
  const [left, right] = await Promise.all(
    (
      [
        ["left", a],
        ["right", b],
      ] as const
    ).map(async ([name, value]) => {
      const store = new MemoryStore(name);
      await store.set("k", value);
      return withRequestLog(store, ({ operation }) => operation === "get" && read.add(name));
    }),
  );
  if (!left || !right) throw new Error("no stores");
  const options = { budget: new ByteBudget(64_000), buffers: new BufferPool(64_000) };
  const same = await sameValue(
    { store: left, listed: { key: "k", ...listed[0] } },
    { store: right, listed: { key: "k", ...listed[1] } },
    options,
  );
  expect(options.budget.leased).toBe(0);
  expect(options.buffers.taken).toBe(0);
  return { same, read: [...read].sort() };
}

describe("sameValue", () => {
  test("decides by sizes, listed or asked for, without reading", async () => {
    expect(await compared(bytes, bytes.subarray(1), [{}, {}])).toEqual({ same: false, read: [] });
    expect(await compared(bytes, bytes, [{ size: 5 }, { size: 6 }])).toEqual({ same: false, read: [] });
  });

  test("compares bytes where listings tell nothing, within the budget", async () => {
    expect(await compared(bytes, bytes, [{}, {}])).toEqual({ same: true, read: ["left", "right"] });
    expect(await compared(bytes, other, [{}, {}])).toMatchObject({ same: false });
    expect(await compared(new Uint8Array(), new Uint8Array(), [{}, {}])).toMatchObject({ same: true });
  });

  test("takes CRC-32 of both listings, or of one and the other's bytes", async () => {
    const [right, wrong] = [crc32(bytes), crc32(other)];
    expect(await compared(bytes, bytes, [{ crc32: right }, { crc32: right }])).toEqual({
      same: true,
      read: [],
    });
    expect(await compared(bytes, bytes, [{ crc32: right }, { crc32: wrong }])).toEqual({
      same: false,
      read: [],
    });
    expect(await compared(bytes, bytes, [{ crc32: right }, {}])).toEqual({ same: true, read: ["right"] });
    expect(await compared(bytes, other, [{}, { crc32: wrong }])).toEqual({ same: false, read: ["left"] });
  });

  test("takes MD5 of both listings, or of one and the other's bytes", async () => {
    const [right, wrong] = [md5(bytes), md5(other)];
    expect(await compared(bytes, bytes, [{ etag: right }, { etag: right.toUpperCase() }])).toEqual({
      same: true,
      read: [],
    });
    expect(await compared(bytes, other, [{ etag: right }, { etag: wrong }])).toEqual({
      same: false,
      read: [],
    });
    expect(await compared(bytes, bytes, [{}, { etag: right }])).toEqual({ same: true, read: ["left"] });
    expect(await compared(bytes, other, [{}, { etag: wrong }])).toEqual({ same: false, read: ["left"] });
    expect(await compared(bytes, bytes, [{ etag: right }, { etag: `${wrong}-2` }])).toEqual({
      same: true,
      read: ["right"],
    });
  });

  test("reads what is no object of a bucket, where each side has another checksum", async () => {
    const listed = [{ crc32: crc32(bytes) }, { etag: md5(bytes) }] as const;
    expect(await compared(bytes, bytes, listed)).toEqual({ same: true, read: ["left"] });
  });

  test("takes tags of other forms for nothing", async () => {
    expect(await compared(bytes, other, [{ etag: "1" }, { etag: "1" }])).toMatchObject({ same: false });
    expect(await compared(bytes, bytes, [{ etag: "1" }, { etag: "2" }])).toMatchObject({ same: true });
    const parts = `${md5(bytes)}-3`;
    expect(await compared(bytes, bytes, [{ etag: parts }, { etag: parts }])).toEqual({
      same: true,
      read: [],
    });
  });
});

describe("isSameSync", () => {
  const small = bytes.subarray(0, 1000);
  const told = (
    a: Uint8Array,
    b: Uint8Array,
    listed: readonly [Omit<KeyEntry, "key">, Omit<KeyEntry, "key">] = [{}, {}],
  ) => {
    const [left, right] = [a, b].map((value, side) => ({
      store: {
        ...new MemoryStore("m"),
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
    expect(
      told(bytes, bytes, [
        { ...crc, size: 100_000 },
        { ...crc, size: 100_000 },
      ]),
    ).toBe(true);
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
