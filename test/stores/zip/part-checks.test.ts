import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PartChecks } from "../../../src/stores/zip/part-checks.ts";
import { ZipStore } from "../../../src/stores/zip/zip-store.ts";
import { crc32 } from "../../../src/util/crc32.ts";
import { BytesReader } from "../bytes-reader.ts";
import { buildZip } from "./build-zip.ts";

const VALUE = Uint8Array.from({ length: 64 }, (_, i) => i * 37);
const EXPECTED = { size: VALUE.length, crc32: crc32(VALUE) };

const ranges = fc.array(fc.tuple(fc.nat(63), fc.integer({ min: 1, max: 64 })), { maxLength: 12 });

describe("checksums of values that are read in parts", () => {
  it("hold in whatever order, and however often, parts are read", () => {
    fc.assert(
      fc.property(ranges, (parts) => {
        const [here, there] = [new PartChecks(), new PartChecks()];
        const covered = new Set<number>();
        for (const [i, [offset, length]] of parts.entries()) {
          const bytes = VALUE.subarray(offset, offset + length);
          for (let at = offset; at < offset + bytes.length; at++) covered.add(at);
          if (!(i % 2 ? there : here).note("k", EXPECTED, offset, bytes)) return false;
        }
        const sum = new PartChecks();
        for (const [offset, length] of parts)
          sum.note("k", EXPECTED, offset, VALUE.subarray(offset, offset + length));
        const isWhole = covered.size === VALUE.length;
        const left = sum.left("k", VALUE.length).reduce((total, { length }) => total + length, 0);
        const areAllRight = sum.add("k", EXPECTED, [...here.take(), ...there.take()]);
        const expected = isWhole || covered.size === 0 ? 0 : 1;
        return areAllRight && left === VALUE.length - covered.size && sum.unchecked === expected;
      }),
    );
  });

  it("differ where one bit of a part does, also where two threads read it", () => {
    const wrong = Uint8Array.from(VALUE);
    wrong[40] = (wrong[40] ?? 0) ^ 4;
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
});

describe.each([
  ["stored", 0],
  ["deflated", 8],
])("a damaged entry, %s", (_, method) => {
  const archive = () => buildZip([{ name: "k", value: VALUE, method, claims: { crc32: 1 } }]);

  it("fails with the last of its parts, and with all that are read after it", async () => {
    const store = await ZipStore.open(new BytesReader(archive()), "zip test.zip");
    const half = (offset: number) => store.get("k", { range: { offset, length: 32 } });
    expect(await half(32)).toEqual(VALUE.subarray(32));
    expect(store.checks.unchecked).toBe(1);
    await expect(half(0)).rejects.toMatchObject({ code: "corrupt-store", details: { expected: "00000001" } });
    await expect(half(32)).rejects.toMatchObject({ code: "corrupt-store" });
    expect(store.checks.unchecked).toBe(0);
  });

  it("fails when it is checked, wherever it was read before", async () => {
    const store = await ZipStore.open(new BytesReader(archive()), "zip test.zip");
    await store.get("k", { range: { offset: 8, length: 8 } });
    await expect(store.checks.check("k")).rejects.toMatchObject({
      code: "corrupt-store",
      details: { key: "k" },
    });
  });
});
