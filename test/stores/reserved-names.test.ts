import { describe, expect, it } from "vitest";
import { controlName, isControlName, isOwnName, temporaryName } from "../../src/stores/reserved-names.ts";

describe("our own names", () => {
  it("are known again, and differ each time", () => {
    const names = [temporaryName(), temporaryName(), controlName("x.zarr"), controlName("x.zarr")];
    expect(names.every(isOwnName)).toBe(true);
    expect(new Set(names).size).toBe(names.length);
  });

  it("of a control folder tell the target, and no other", () => {
    expect(isControlName(controlName("x.zarr"), "x.zarr")).toBe(true);
    expect(isControlName(controlName("x.zarr"), "x")).toBe(false);
    expect(isControlName(controlName("y.x.zarr"), "x.zarr")).toBe(false);
  });

  it.each([".zarray", ".zarrflow", ".zarrflow-1", "zarrflow-0123456789ab", "x.zarrflow-0123456789ab"])(
    "are not like %s",
    (name) => {
      expect(isOwnName(name)).toBe(false);
    },
  );
});
