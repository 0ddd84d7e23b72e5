import { crc32 } from "../../../util/crc32.ts";
import type { CodecFactory } from "../../codec.ts";
import { ConfigReader } from "../../config-reader.ts";
import { checksumCodec } from "./checksum.ts";

/** `crc32`: guards the bytes with their CRC-32 as in zlib, at the start unless `location` says otherwise. */
export const createCrc32: CodecFactory = (configuration) => {
  const location = new ConfigReader(configuration).word("location", ["start", "end"], "start");
  return checksumCodec("crc32", location, crc32);
};
