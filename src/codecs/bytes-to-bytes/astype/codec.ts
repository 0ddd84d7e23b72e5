import type { CodecFactory } from "../../codec.ts";
import { ConfigReader } from "../../config-reader.ts";
import { convertNumbers } from "../../numbers/convert.ts";
import { numberFilter } from "../../numbers/number-filter.ts";
import { numberType } from "../../numbers/number-type.ts";

/** `astype` of numcodecs: numbers of `decode_dtype` stored as `encode_dtype`, cast as in C. */
export const createAstype: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  return numberFilter({
    name: "astype",
    decoded: numberType(settings, "decode_dtype"),
    stored: numberType(settings, "encode_dtype"),
    encode: convertNumbers,
    decode: convertNumbers,
  });
};
