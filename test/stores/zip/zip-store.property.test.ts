import fc from "fast-check";
import { expect, it } from "vitest";
import { ZipStore } from "../../../src/stores/zip.ts";
import type { RangeReader } from "../../../src/util/byte-range.ts";
import { BytesReader } from "../bytes-reader.ts";
import { assertBytes } from "../expect-bytes.ts";
import { buildZip } from "./build-zip.ts";

const DATA = new Uint8Array(600_000).map((_, i) => (i * i) >> 6);

const entry = fc.record({
  name: fc.constantFrom("a", "b", "c", "d/0", "d/1", "d/", "é"),
  start: fc.integer({ min: 0, max: 1000 }),
  length: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 500_000 })),
  method: fc.constantFrom(0, 0, 0, 8),
  descriptor: fc.boolean(),
  localExtra: fc.constantFrom(0, 0, 9, 16, 28).map((length) => new Uint8Array(length)),
});
const ask = fc.record({
  key: fc.constantFrom("a", "b", "c", "d/0", "d/1", "é", "none"),
  range: fc.option(
    fc.oneof(
      fc.record({ offset: fc.integer({ min: 0, max: 500_000 }), length: fc.integer({ min: 0, max: 5000 }) }),
      fc.record({ suffix: fc.integer({ min: 1, max: 70_000 }) }),
    ),
    { nil: undefined },
  ),
});
const archive = fc.record({
  zip64: fc.boolean(),
  comment: fc.constantFrom(0, 50).map((length) => new Uint8Array(length)),
});

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
  async read(offset: number, length: number, { into }: Parameters<RangeReader["read"]>[2] = {}) {
    const bytes = await this.#reader.read(offset, length);
    into?.set(bytes);
    return into ?? bytes;
  }
}

it("reads of any archive, of whatever part, at one time or in turn, are what was put in", async () => {
  const property = fc.asyncProperty(
    fc.array(entry, { maxLength: 8 }),
    archive,
    fc.array(ask, { maxLength: 12 }),
    fc.constantFrom("far", "near"),
    fc.boolean(),
    async (entries, draft, asks, place, atOnce) => {
      const drafts = entries.map(({ start, length, ...rest }) => ({
        ...rest,
        value: rest.name === "d/" ? new Uint8Array(0) : DATA.subarray(start, start + length),
      }));
      const values = new Map<string, Uint8Array>(drafts.map(({ name, value }) => [name, value]));
      const bytes = buildZip(drafts, draft);
      const reader = place === "far" ? new BytesReader(bytes) : new LocalReader(bytes);
      const store = await ZipStore.open(reader, "zip test.zip");
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
