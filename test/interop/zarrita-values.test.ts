import { describe, expect, test } from "vitest";
import * as zarrita from "zarrita";
import type { CodecJson } from "../../src/codecs/canonical-config.ts";
import { itemsOf } from "../support/consume.ts";
import { given } from "../support/given.ts";

const VALUES = Float64Array.of(-2.5, -1.5, 0.5, 1.5, 2.5, 99.75, 100, 127);

const cast = (configuration: object): CodecJson => ({ name: "cast_value", configuration });
const scale = (configuration: object): CodecJson => ({ name: "scale_offset", configuration });

describe("zarrita reads the values that we computed", () => {
  test.each<[string, readonly CodecJson[], number]>([
    ["a cast", [cast({ data_type: "float32" })], 0],
    ["one that rounds to even", [cast({ data_type: "int16" })], 0.5],
    ["one away from zero", [cast({ data_type: "int64", rounding: "nearest-away" })], 0.5],
    ["one that clamps", [cast({ data_type: "uint8", rounding: "towards-zero", out_of_range: "clamp" })], 3],
    ["a scale", [scale({ offset: 5, scale: 2 })], 0],
    ["a scale and a cast", [scale({ offset: -3, scale: 4 }), cast({ data_type: "uint16" })], 0],
  ])("%s", async (_, codecs, tolerance) => {
    const store = await given({ chunks: [3], dataType: "float64", codecs: [...codecs], values: VALUES });
    const ours = await itemsOf(store, "");
    const reader = { get: async (key: string) => store.get(key.replace(/^\//, "")) };
    const theirs = await zarrita.get(await zarrita.open.v3(reader, { kind: "array" }));
    expect([...(theirs.data as Float64Array)]).toEqual(ours);
    for (const [i, value] of ours.entries()) {
      expect(Math.abs(Number(value) - Number(VALUES[i]))).toBeLessThanOrEqual(tolerance);
    }
  });
});
