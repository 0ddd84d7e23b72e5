import type { CodecConfig } from "../array-metadata.ts";
import { required } from "../assert-json.ts";
import { codecPointer } from "./codec.ts";
import { parseV3DataType, type V3DataType } from "./data-type.ts";

/**
 * The data type after the casts in `codecs`, a list at `pointer`.
 *
 * @throws `invalid-metadata`, `unsupported-data-type` at a cast.
 */
export function typeAfter(type: V3DataType, codecs: readonly CodecConfig[], pointer: string): V3DataType {
  return codecs.reduce((before, codec, i) => {
    if (codec.name !== "cast_value") return before;
    const at = `${codecPointer(codec, pointer, i)}/configuration`;
    return parseV3DataType(required(codec.configuration, "data_type", at), `${at}/data_type`);
  }, type);
}
