import { describe, expect, it } from "vitest";
import { packingOf, unpacked } from "../../../../src/meta/conventions/cf/packing.ts";

describe("packing", () => {
  it.each([
    ["int", 2, { scale_factor: 0.25, add_offset: 10 }, -4, 9],
    ["int", 4, { scale_factor: 2 }, 3, 6],
    ["uint", 1, { add_offset: [0.5] }, 255, 255.5],
    ["int", 1, { _Unsigned: "true" }, -1, 255],
    ["int", 1, { _Unsigned: "true", scale_factor: 0.5 }, -1, 127.5],
    ["uint", 2, { _Unsigned: "false" }, 65_535, -1],
    ["int", 8, { _Unsigned: "true" }, -1n, 2n ** 64n - 1n],
    ["float", 4, { scale_factor: 0.5 }, 3, 1.5],
  ] as const)("%s of %s bytes with %j", (kind, size, attributes, stored, meant) => {
    const packing = packingOf({ kind, size } as Parameters<typeof packingOf>[0], attributes);
    expect(packing && unpacked(stored, packing)).toBe(meant);
  });

  it("is none where numbers are as they mean", () => {
    expect(packingOf({ kind: "int", size: 2 }, { units: "K", _Unsigned: "false" })).toBeUndefined();
    expect(packingOf({ kind: "string" }, { scale_factor: 2 })).toBeUndefined();
  });
});
