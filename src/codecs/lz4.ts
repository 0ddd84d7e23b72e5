import { ZarrflowError } from "../util/errors.ts";
import type { CodecFactory } from "./codec.ts";
import { ConfigReader, encoderSetting } from "./config-reader.ts";
import { kernelsOfThread } from "./kernels/kernels.ts";
import { lz4MaxEncodedSize } from "./kernels/lz4-block.ts";
import { wordView } from "./kernels/swap-bytes.ts";
import { wasmLz4 } from "./kernels/wasm-codecs.ts";
import { corrupt, overrun } from "./limits.ts";

const lz4Kernels = kernelsOfThread(wasmLz4);

const HEADER_SIZE = 4;
const MAX_SIZE = 2 ** 31 - 1;
/** The most bytes that one byte of a block can decode to. */
const MAX_RATIO = 255;

/** `lz4` of numcodecs: the decoded size as u32le, then one raw block. */
export const createLz4: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const acceleration = encoderSetting(() => settings.integer("acceleration", -MAX_SIZE, MAX_SIZE, 1), 1);
  const effort = Math.min(Math.max(acceleration.value, 1), 65_537);
  return {
    kind: "bytes-to-bytes",
    name: "lz4",
    maxEncodedSize: (decodedSize) => HEADER_SIZE + lz4MaxEncodedSize(decodedSize),
    // The kernels copy input and output.
    scratchSize: (decodedSize) => decodedSize + lz4MaxEncodedSize(decodedSize),
    statedDecodedSize,
    assertEncodable: acceleration.check,
    encodeInto(source, target) {
      if (source.length > MAX_SIZE) {
        throw new ZarrflowError("resource-limit", "lz4 supports at most 2 GiB per chunk", {
          found: source.length,
        });
      }
      wordView(target).setUint32(0, source.length, true);
      return HEADER_SIZE + lz4Kernels().lz4Encode(source, target.subarray(HEADER_SIZE), effort);
    },
    decodeInto(source, target) {
      const size = statedDecodedSize(source);
      if (size > target.length) throw overrun(target.length);
      const written = lz4Kernels().lz4Decode(source.subarray(HEADER_SIZE), target.subarray(0, size));
      if (written !== size) throw corrupt("not an LZ4 block of the stated size, or truncated");
      return written;
    },
    decodeRangeInto(source, offset, target) {
      const size = statedDecodedSize(source);
      const end = offset + target.length;
      if (end > size) {
        throw corrupt("the decoded data ends before the range", { expected: end, found: size });
      }
      if (!lz4Kernels().lz4DecodePart(source.subarray(HEADER_SIZE), target, offset)) {
        throw corrupt("not an LZ4 block of the stated size");
      }
    },
  };
};

function statedDecodedSize(source: Uint8Array): number {
  if (source.length < HEADER_SIZE) {
    throw corrupt("the size at the start is truncated", { expected: HEADER_SIZE, found: source.length });
  }
  const size = wordView(source).getUint32(0, true);
  if (size > MAX_SIZE || size > (source.length - HEADER_SIZE) * MAX_RATIO) {
    throw corrupt("the stated size is more than the block can decode to", { found: size });
  }
  return size;
}
