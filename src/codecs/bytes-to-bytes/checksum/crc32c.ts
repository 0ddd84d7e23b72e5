import type { CodecFactory } from "../../codec.ts";
import { ConfigReader } from "../../config-reader.ts";
import { kernels } from "../../kernels/kernels.ts";
import { checksumCodec } from "./checksum.ts";

/** `crc32c`: guards the bytes with their CRC-32C (Castagnoli), at the end unless `location` says otherwise. */
export const createCrc32c: CodecFactory = (configuration) => {
  const location = new ConfigReader(configuration).word("location", ["start", "end"], "end");
  return checksumCodec("crc32c", location, (bytes) => kernels().crc32c(bytes));
};
