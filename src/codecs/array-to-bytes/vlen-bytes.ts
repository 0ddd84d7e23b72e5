import type { CodecFactory } from "../codec.ts";
import { vlenCodec } from "./vlen/codec.ts";

/** `vlen-bytes`: any bytes. @see V2-56, S7-40 */
export const createVlenBytes: CodecFactory = (_, context) =>
  vlenCodec("vlen-bytes", context, "binary", () => {});
