import type { CodecFactory } from "../../codec.ts";
import { ConfigReader, encoderSetting } from "../../config-reader.ts";
import { columnLimit, decodeBz2 } from "./decode.ts";
import { blockCapacity, encodeBz2, maxBz2Size } from "./encode.ts";
import { BLOCK_UNIT } from "./format.ts";
import { TABLES_SIZE } from "./read-block.ts";

/** Memory of the encoder per byte of a block: the block twice, column, symbols, order, and tables for sorting. */
const ENCODER_SHARE = 18;
const ENCODER_TABLES = 65_536;

/** `bz2`: bzip2 streams; reads several as one. */
export const createBz2: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const { value: level, check } = encoderSetting(() => settings.integer("level", 1, 9, 1), 1);
  return {
    kind: "bytes-to-bytes",
    name: "bz2",
    maxEncodedSize: maxBz2Size,
    scratchSize: (decodedSize) => {
      // Data may be of any level when read.
      const decoder = 4 * Math.min(9 * BLOCK_UNIT, columnLimit(decodedSize)) + TABLES_SIZE;
      return Math.max(decoder, ENCODER_SHARE * blockCapacity(decodedSize, level) + ENCODER_TABLES);
    },
    assertEncodable: check,
    encodeInto: (source, target) => encodeBz2(source, target, level),
    decodeInto: decodeBz2,
  };
};
