import type { CodecFactory } from "../codec.ts";
import { vlenCodec } from "./vlen/codec.ts";

/** `vlen-bytes`: any bytes. */
export const createVlenBytes: CodecFactory = (_, context) =>
  vlenCodec("vlen-bytes", context, "binary", () => {});
