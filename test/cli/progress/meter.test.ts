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

  it("computes what is left from the rate at which bytes of the work are done, once that is no guess", () => {
    const meter = new Meter(0);
    meter.note(1, 0, 0.2);
    expect(meter.left(0.2)).toBeUndefined();
    meter.note(1.5, 0, 0.3);
    expect(meter.left(0.3)).toBeUndefined();
    meter.note(11, 0, 0.4);
    expect(meter.left(0.4)).toBeCloseTo(30);
    expect(meter.left(1)).toBe(0);
  });

  it("leaves out what a resumed run found done, and a rate of long ago", () => {
    const meter = new Meter(0);
    for (let s = 0; s <= 10; s++) meter.note(s, 0, 0.5 + s * 0.01);
    expect(meter.left(0.6)).toBeCloseTo(40);
    for (let s = 11; s <= 100; s++) meter.note(s, 0, 0.6 + (s - 10) * 0.001);
    expect(meter.left(0.69)).toBeCloseTo(310);
  });

  it("promises nothing while nothing goes on", () => {
    const meter = new Meter(0);
    for (let s = 0; s <= 10; s++) meter.note(s, 0, 0.5);
    expect(meter.left(0.5)).toBeUndefined();
  });
});
