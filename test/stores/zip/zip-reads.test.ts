import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NearReads } from "../../../src/stores/zip/coalescing-reader.ts";
import { PartChecks } from "../../../src/stores/zip/part-checks.ts";
import { EntryOffsets } from "../../../src/stores/zip/zip-index.ts";
import { ZipStore } from "../../../src/stores/zip.ts";
import type { RangeReader, RangeReadOptions } from "../../../src/util/byte-range.ts";
import { crc32 } from "../../../src/util/crc32.ts";
import { keysOf } from "../../support/consume.ts";
import { BytesReader } from "../bytes-reader.ts";
import { assertBytes } from "../support.ts";
import { buildZip, type EntryDraft } from "./build-zip.ts";

const KIB = 1024;
/** Bytes that do not deflate well, all different from place to place. */
const DATA = new Uint8Array(6 * KIB * KIB).map((_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 13);

/** The archive as a file: each read alone, into the caller's buffer. */
class LocalReader implements RangeReader {
  readonly remote = false;
  readonly #reader: BytesReader;
  constructor(bytes: Uint8Array) {
    this.#reader = new BytesReader(bytes);
  }
  get size(): number {
    return this.#reader.size;
  }
  async read(offset: number, length: number, { into }: RangeReadOptions = {}) {
    const bytes = await this.#reader.read(offset, length);
    into?.set(bytes);
    return into ?? bytes;
  }
}

const open = (bytes: Uint8Array, place: string) =>
  ZipStore.open(place === "far" ? new BytesReader(bytes) : new LocalReader(bytes), "zip test.zip");

it("reads of any archive, of whatever part, at one time or in turn, are what was put in", async () => {
  const bytesOf = (...lengths: number[]) =>
    fc.constantFrom(...lengths).map((length) => new Uint8Array(length).fill(65));
  const entry = fc.record({
    name: fc.constantFrom("a", "b", "c", "d/0", "d/1", "d/", "é"),
    start: fc.integer({ min: 0, max: 1000 }),
    length: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 500_000 })),
    method: fc.constantFrom(0, 0, 0, 8),
    flags: fc.constantFrom(0, 0x0800),
    descriptor: fc.boolean(),
    localExtra: bytesOf(0, 0, 9, 16, 28),
    extra: fc.constantFrom([], [0xfe, 0xca, 2, 0, 1, 1]).map((bytes) => Uint8Array.from(bytes)),
    comment: fc.constantFrom("", "of the entry"),
  });
  const offset = fc.integer({ min: 0, max: 500_000 });
  const ask = fc.record({
    key: fc.constantFrom("a", "b", "c", "d/0", "d/1", "é", "none"),
    range: fc.option(
      fc.oneof(
        fc.record({ offset, length: fc.integer({ min: 0, max: 5000 }) }),
        fc.record({ suffix: fc.integer({ min: 1, max: 70_000 }) }),
      ),
      { nil: undefined },
    ),
  });
  const archive = fc.record({
    start: fc.constantFrom({}, { zip64: true }, { before: new Uint8Array(777).fill(80) }),
    comment: fc.oneof(bytesOf(0, 50, 0xffff), fc.constant(Buffer.from("PK\x05\x06 is not the end of this"))),
  });
  const property = fc.asyncProperty(
    fc.array(entry, { maxLength: 8 }),
    archive,
    fc.array(ask, { maxLength: 12 }),
    fc.constantFrom("far", "near"),
    fc.boolean(),
    async (entries, draft, asks, place, atOnce) => {
      const drafts = entries.map(({ start, length, ...rest }) => ({
        ...rest,
        flags: rest.name === "é" ? 0x0800 : rest.flags,
        value: rest.name === "d/" ? new Uint8Array(0) : DATA.subarray(start, start + length),
      }));
      const values = new Map<string, Uint8Array>(drafts.map(({ name, value }) => [name, value]));
      const store = await open(buildZip(drafts, { ...draft.start, comment: draft.comment }), place);
      expect(await keysOf(store)).toEqual([...values.keys()].filter((key) => key !== "d/").sort());
      expect(store.findings.filter(({ isDuplicate }) => !isDuplicate)).toEqual([]);
      const check = async ({ key, range }: (typeof asks)[number]) => {
        const found = await store.get(key, { range });
        const value = values.get(key);
        if (value === undefined) return expect(found).toBeUndefined();
        const [from, to] = !range
          ? [0, value.length]
          : "suffix" in range
            ? [Math.max(0, value.length - range.suffix), value.length]
            : [range.offset, range.offset + range.length];
        assertBytes(found, value.subarray(from, to));
      };
      if (atOnce) await Promise.all(asks.map(check));
      else for (const one of asks) await check(one);
    },
  );
  await fc.assert(property, { numRuns: 150 });
}, 120_000);

describe.each([
  ["far", "stored", 0],
  ["far", "deflated", 8],
  ["near", "stored", 0],
  ["near", "deflated", 8],
])("where data start, guessed wrongly in an archive that is %s, %s", (place, _, method) => {
  const value = DATA.subarray(0, 600_000);
  const range = { offset: 400_000, length: 1000 };
  /** Entries of which one has a data descriptor as long as the extra field of the one that is read before it. */
  const misleading = async (value: Uint8Array, claims: EntryDraft["claims"] = {}) => {
    const drafts = [
      { name: "c", value, method, descriptor: true, claims },
      { name: "d", value: DATA.subarray(5, 40), localExtra: new Uint8Array(16) },
      { name: "e", value: DATA.subarray(7, 9) },
    ];
    const store = await open(buildZip(drafts), place);
    assertBytes(await store.get("d"), DATA.subarray(5, 40));
    return store;
  };

  it.each([32_769, 600_000])(
    "is asked of the local header when the CRC differs: %i bytes",
    async (length) => {
      const store = await misleading(DATA.subarray(0, length));
      assertBytes(await store.get("c"), DATA.subarray(0, length));
      const into = new Uint8Array(length);
      await store.get("d");
      if (store.getSync?.("c", { into })) assertBytes(into, DATA.subarray(0, length));
    },
  );

  it("is never taken for a part, which no CRC checks", async () => {
    const part = await (await misleading(value)).get("c", { range });
    assertBytes(part, value.subarray(400_000, 401_000));
  });

  it("is not taken for a part where the local name has another length", async () => {
    const name = "a-name-of-17-char";
    const drafts = [
      { name, localName: "c", value, method, descriptor: true },
      { name: "d", value: DATA.subarray(5, 40) },
    ];
    const store = await open(buildZip(drafts), place);
    assertBytes(await store.get(name, { range }), value.subarray(400_000, 401_000));
    assertBytes(await store.get(name, { range: { suffix: 50_000 } }), value.subarray(-50_000));
    const long = await store.get(name, { range: { offset: 100, length: 500_000 } });
    assertBytes(long, value.subarray(100, 500_100));
    assertBytes(await store.get(name), value);
  });

  it("does not hide that the entry is broken", async () => {
    const store = await misleading(DATA.subarray(0, 40_000), { crc32: 1 });
    await expect(store.get("c")).rejects.toMatchObject({ code: "corrupt-store", details: { key: "c" } });
  });
});

it("a part of an entry far away is two requests at one time, then one", async () => {
  const drafts = [0, 1].map((i) => ({ name: `c/${i}`, value: DATA.subarray(i, 900_000) }));
  const reader = new BytesReader(buildZip(drafts));
  const store = await ZipStore.open(reader, "zip test.zip");
  reader.reads.length = 0;
  await store.get("c/0", { range: { suffix: 1000 } });
  await store.get("c/0", { range: { offset: 300_000, length: 1000 } });
  expect(reader.reads.map(({ length }) => length)).toEqual([33, 1000, 1000]);
});

it("the next offset is known whatever the order of the directory, with many at one place, and added later", () => {
  const numbers = Array.from({ length: 500 }, (_, i) => ((i * 7919) % 500) * 2 ** 25);
  for (const order of [numbers, numbers.toSorted((a, b) => a - b), [...numbers, ...numbers]]) {
    const offsets = new EntryOffsets();
    for (const offset of order) offsets.add(offset);
    expect(offsets.after(-1)).toBe(0);
    expect(offsets.after(0)).toBe(2 ** 25);
    expect(offsets.after(2 ** 25 + 1)).toBe(2 * 2 ** 25);
    expect(offsets.after(499 * 2 ** 25)).toBeUndefined();
    offsets.add(5);
    expect(offsets.after(0)).toBe(5);
  }
});

describe("NearReads", () => {
  const readers = () => {
    const far = new BytesReader(DATA);
    return { far, near: new NearReads(far), lengths: () => far.reads.splice(0).map(({ length }) => length) };
  };

  it("reads what is asked for at one time and lies near in one request, each into its own buffer", async () => {
    const { far, near } = readers();
    const into = new Uint8Array(500);
    const parts = await Promise.all([
      near.read(200 * KIB, 10 * KIB),
      near.read(100, 500, { into }),
      near.read(60 * KIB, 80 * KIB),
      near.read(60 * KIB, 100),
    ]);
    expect(far.reads).toEqual([{ offset: 100, length: 210 * KIB - 100 }]);
    expect(parts[1]).toBe(into);
    assertBytes(parts[0], DATA.subarray(200 * KIB, 210 * KIB));
    assertBytes(into, DATA.subarray(100, 600));
    assertBytes(parts[3], DATA.subarray(60 * KIB, 60 * KIB + 100));
    parts[3]?.fill(0);
    assertBytes(parts[2], DATA.subarray(60 * KIB, 140 * KIB));
  });

  it("leaves apart what is over 64 KiB apart, or over 1 MiB together, or beyond its memory", async () => {
    const { near, lengths } = readers();
    await Promise.all([near.read(0, 10), near.read(64 * KIB + 11, 10)]);
    expect(lengths()).toEqual([10, 10]);
    await Promise.all([0, 1, 2].map((i) => near.read(i * 400 * KIB, 400 * KIB)));
    expect(lengths()).toEqual([800 * KIB, 400 * KIB]);
    await Promise.all(Array.from({ length: 12 }, (_, i) => near.read(i * 256 * KIB, 256 * KIB)));
    expect(lengths()).toEqual([1024, 1024, 256, 256, 256, 256].map((length) => length * KIB));
  });

  it("brings what is behind a small entry, but not behind a part", async () => {
    const { near, lengths } = readers();
    await near.read(5000, 100, { isEntry: true });
    assertBytes(await near.read(5200, 20_000), DATA.subarray(5200, 25_200));
    await near.read(DATA.length - 10, 10, { isEntry: true });
    await near.read(90_000, 100);
    await near.read(95_000, 5000, { isEntry: true });
    expect(lengths()).toEqual([32 * KIB, 10, 100, 5000]);
  });

  it("takes what lies whole in a part that is held from there, until it is let go", async () => {
    const { far, near } = readers();
    const part = new Uint8Array(50 * KIB);
    const letGo = await near.hold(part, 1000);
    assertBytes(part, DATA.subarray(1000, 1000 + 50 * KIB));
    (await near.read(2000, 100)).fill(0);
    assertBytes(await near.read(2000, 100), DATA.subarray(2000, 2100));
    assertBytes(await near.read(990, 100), DATA.subarray(990, 1090));
    letGo();
    part.fill(0);
    assertBytes(await near.read(2000, 100), DATA.subarray(2000, 2100));
    expect(far.reads.map(({ offset }) => offset)).toEqual([1000, 990, 2000]);
  });

  it("gives its own reason to who gives up, and ends a request only when nobody waits for it", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const near = new NearReads({
      size: DATA.length,
      remote: true,
      read(_offset: number, _length: number, { signal }: RangeReadOptions = {}) {
        signals.push(signal);
        return new Promise<never>(() => {});
      },
    });
    const callers = [new AbortController(), new AbortController(), new AbortController()];
    callers[2]?.abort("never");
    const reads = callers.map(({ signal }, i) => near.read(i * 10_000, 10_000, { signal }));
    await expect(reads[2]).rejects.toMatchObject({ code: "aborted", cause: "never" });
    callers[0]?.abort("enough");
    await expect(reads[0]).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    expect(signals[0]?.aborted).toBe(false);
    callers[1]?.abort("me too");
    expect(signals[0]?.aborted).toBe(true);
    await expect(reads[1]).rejects.toMatchObject({ code: "aborted", cause: "me too" });
  });

  it("passes a failure to all who wait, and goes on", async () => {
    const { far, near } = readers();
    const failure = new Error("reset");
    const { read } = far;
    far.read = async () => Promise.reject(failure);
    const reads = await Promise.allSettled([near.read(0, 10_000), near.read(10_000, 10)]);
    expect(reads.map((one) => one.status === "rejected" && one.reason)).toEqual([failure, failure]);
    far.read = read;
    assertBytes(await near.read(7, 9), DATA.subarray(7, 16));
  });
});

describe("checksums of values that are read in parts", () => {
  const VALUE = Uint8Array.from({ length: 64 }, (_, i) => i * 37);
  const EXPECTED = { size: VALUE.length, crc32: crc32(VALUE) };

  it("hold in whatever order, and however often, parts are read", () => {
    const ranges = fc.array(fc.tuple(fc.nat(63), fc.integer({ min: 1, max: 64 })), { maxLength: 12 });
    const property = fc.property(ranges, (parts) => {
      const [here, there, sum] = [new PartChecks(), new PartChecks(), new PartChecks()];
      const covered = new Set<number>();
      for (const [i, [offset, length]] of parts.entries()) {
        const bytes = VALUE.subarray(offset, offset + length);
        for (let at = offset; at < offset + bytes.length; at++) covered.add(at);
        if (!(i % 2 ? there : here).note("k", EXPECTED, offset, bytes)) return false;
        sum.note("k", EXPECTED, offset, bytes);
      }
      const isWhole = covered.size === VALUE.length;
      const left = sum.left("k", VALUE.length).reduce((total, { length }) => total + length, 0);
      const areAllRight = sum.add("k", EXPECTED, [...here.take(), ...there.take()]);
      const expected = isWhole || covered.size === 0 ? 0 : 1;
      return areAllRight && left === VALUE.length - covered.size && sum.unchecked === expected;
    });
    fc.assert(property);
  });

  it("differ where one bit of a part does, also where two threads read it", () => {
    const wrong = VALUE.with(40, (VALUE[40] ?? 0) ^ 4);
    const [here, there] = [new PartChecks(), new PartChecks()];
    expect(here.note("k", EXPECTED, 0, wrong.subarray(0, 32))).toBe(true);
    expect(there.note("k", EXPECTED, 32, wrong.subarray(32))).toBe(true);
    expect(here.add("k", EXPECTED, there.take())).toBe(false);
    expect(here.wrongOf("k")).toBe(crc32(wrong));
  });

  it("are of no more use once the value was checked whole", () => {
    const checks = new PartChecks();
    checks.noteWhole("k");
    expect(checks.left("k", VALUE.length)).toEqual([]);
    expect(checks.note("k", EXPECTED, 0, VALUE.subarray(0, 8))).toBe(true);
    expect(checks.unchecked).toBe(0);
  });

  it.each([0, 8])(
    "of a damaged entry fail with its last part, later ones, and a check (method %i)",
    async (method) => {
      const archive = buildZip([{ name: "k", value: VALUE, method, claims: { crc32: 1 } }]);
      const [store, other] = [await open(archive, "far"), await open(archive, "far")];
      const half = (offset: number) => store.get("k", { range: { offset, length: 32 } });
      expect(await half(32)).toEqual(VALUE.subarray(32));
      expect(store.checks.unchecked).toBe(1);
      await expect(half(0)).rejects.toMatchObject({
        code: "corrupt-store",
        details: { expected: "00000001" },
      });
      await expect(half(32)).rejects.toMatchObject({ code: "corrupt-store" });
      expect(store.checks.unchecked).toBe(0);
      await other.get("k", { range: { offset: 8, length: 8 } });
      const fault = { code: "corrupt-store", details: { key: "k" } };
      await expect(other.checks.check("k")).rejects.toMatchObject(fault);
    },
  );
});
