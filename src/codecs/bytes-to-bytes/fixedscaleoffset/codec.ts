import type { CodecFactory } from "../../codec.ts";
import { ConfigReader } from "../../config-reader.ts";
import { convertNumbers, roundToEven } from "../../numbers/convert.ts";
import { type BigArray, keeper, type NumberArray } from "../../numbers/number-array.ts";
import { numberFilter } from "../../numbers/number-filter.ts";
import { type NumberType, numberType } from "../../numbers/number-type.ts";

/**
 * `fixedscaleoffset` of numcodecs: stores `(x - offset) * scale` of `dtype`, rounded, as `astype`. Floats, including
 * offset and scale, are computed in their own precision; integers as doubles.
 */
export const createFixedScaleOffset: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const offset = settings.number("offset");
  const scale = settings.number("scale");
  const decoded = numberType(settings, "dtype");
  const stored = numberType(settings, "astype", decoded);
  return numberFilter({
    name: "fixedscaleoffset",
    decoded,
    stored,
    encode(from, to) {
      const keep = precision(decoded);
      const [o, s] = [keep(offset), keep(scale)];
      compute(from, to, (value) => roundToEven(keep(keep(value - o) * s)));
    },
    decode(from, to) {
      const keep = precision(stored);
      const [o, s] = [keep(offset), keep(scale)];
      compute(from, to, (value) => keep(keep(value / s) + o));
    },
  });
};

function precision(type: NumberType): (value: number) => number {
  return type.kind === "float" ? keeper(type) : (value) => value;
}

function compute(
  from: NumberArray | BigArray,
  to: NumberArray | BigArray,
  result: (value: number) => number,
): void {
  const results = new Float64Array(from.length);
  for (let i = 0; i < from.length; i++) results[i] = result(Number(from[i]));
  convertNumbers(results, to);
}
