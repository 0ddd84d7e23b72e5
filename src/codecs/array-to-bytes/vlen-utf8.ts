import type { CodecFactory } from "../codec.ts";
import { assertStrings } from "./assert-strings.ts";
import { vlenCodec } from "./vlen/codec.ts";

/** `vlen-utf8`: strings as UTF-8, each checked by itself. */
export const createVlenUtf8: CodecFactory = (_, context) =>
  vlenCodec("vlen-utf8", context, "string", assertStrings);
