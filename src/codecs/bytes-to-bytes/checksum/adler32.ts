import type { CodecFactory } from "../../codec.ts";
import { ConfigReader } from "../../config-reader.ts";
import { adler32 } from "../../kernels/adler32.ts";
import { checksumCodec } from "./checksum.ts";

/** `adler32`: guards the bytes with their Adler-32, at the start unless `location` says otherwise. */
export const createAdler32: CodecFactory = (configuration) => {
  const location = new ConfigReader(configuration).word("location", ["start", "end"], "start");
  return checksumCodec("adler32", location, adler32);
};
