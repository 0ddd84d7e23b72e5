import { describe, expect, it } from "vitest";
import { Meter } from "../../../src/cli/progress/meter.ts";

describe("Meter", () => {
  it("takes the rate over the last seconds", () => {
    const meter = new Meter(100);
    expect(meter.rate).toBeUndefined();
    for (let s = 1; s <= 20; s++) meter.note(100 + s, s <= 10 ? 1000 * s : 10_000);
    expect(meter.rate).toBe(0);
    meter.note(121, 10_500);
    expect(meter.rate).toBe(100);
  });

  it("computes what is left from what is done, once that is no guess", () => {
    const meter = new Meter(0);
    expect(meter.left(0.5, 0.5)).toBeUndefined();
    expect(meter.left(10, 0.001)).toBeUndefined();
    expect(meter.left(10, 0.25)).toBe(30);
    expect(meter.left(10, 1)).toBe(0);
  });
});
