import type { CodecFactory } from "../codec.ts";
import { ConfigReader, encoderSetting } from "../config-reader.ts";
import { kernelsOfThread } from "../kernels/kernels.ts";
import { wasmShuffle } from "../kernels/wasm-shuffle.ts";
import { itemsToDecode, itemsToEncode, overrun } from "../limits.ts";

const shuffleKernels = kernelsOfThread(wasmShuffle);

/**
 * `shuffle` of numcodecs: the first bytes of all items of `elementsize` bytes, then all second bytes, and so on.
 *
 * If the size is 1 or less, numcodecs leaves bytes unchanged. A size below 1 is accepted for reading, but not for
 * writing.
 */
export const createShuffle: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const stated = settings.integer("elementsize", -(2 ** 31), 2 ** 31 - 1, 4);
  const { value: itemSize, check } = encoderSetting(
    () => settings.integer("elementsize", 1, 2 ** 31 - 1, 4),
    Math.max(1, stated),
  );
  return {
    kind: "bytes-to-bytes",
    name: "shuffle",
    maxEncodedSize: (decodedSize) => decodedSize,
    fixedEncodedSize: (decodedSize) => decodedSize,
    statedDecodedSize: (source) => source.length,
    assertEncodable: check,
    encodeInto(source, target) {
      itemsToEncode(source, itemSize);
      shuffleKernels().shuffle(source, target, itemSize);
      return source.length;
    },
    decodeInto(source, target) {
      itemsToDecode(source, itemSize);
      if (source.length > target.length) throw overrun(target.length);
      shuffleKernels().unshuffle(source, target, itemSize);
      return source.length;
    },
  };
};
