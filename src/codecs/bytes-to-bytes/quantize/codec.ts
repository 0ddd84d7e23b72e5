import { ZarrflowError } from "../../../util/errors.ts";
import type { CodecFactory } from "../../codec.ts";
import { ConfigReader, encoderSetting } from "../../config-reader.ts";
import { convertNumbers, roundToEven } from "../../numbers/convert.ts";
import { keeper } from "../../numbers/number-array.ts";
import { numberFilter } from "../../numbers/number-filter.ts";
import { numberType } from "../../numbers/number-type.ts";

/**
 * `quantize` of numcodecs: floats rounded to multiples of a power of two that keeps `digits` decimal digits. Encoding
 * is lossy; decoding only converts `astype` to `dtype`.
 */
export const createQuantize: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const { value: digits, check } = encoderSetting(() => settings.integer("digits", -300, 300), 0);
  const decoded = numberType(settings, "dtype");
  const stored = numberType(settings, "astype", decoded);
  if (decoded.kind !== "float" || stored.kind !== "float") {
    throw new ZarrflowError("unsupported-data-type", "`dtype` and `astype` must be floats");
  }
  const scale = 2 ** Math.ceil(Math.log2(10 ** digits));
  const filter = numberFilter({
    name: "quantize",
    decoded,
    stored,
    encode(from, to) {
      const keep = keeper(decoded);
      const rounded = new Float64Array(from.length);
      for (let i = 0; i < from.length; i++) {
        rounded[i] = keep(roundToEven(keep(scale * Number(from[i]))) / scale);
      }
      convertNumbers(rounded, to);
    },
    decode: convertNumbers,
  });
  return { ...filter, assertEncodable: check };
};
