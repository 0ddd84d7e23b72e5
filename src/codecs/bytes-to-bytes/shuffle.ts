import type { CodecFactory } from "../codec.ts";
import { overrun } from "../failures.ts";
import { kernels } from "../kernels/kernels.ts";
import { Settings } from "../settings.ts";
import { itemsToDecode, itemsToEncode } from "../whole-items.ts";

/** `shuffle` of numcodecs: all first bytes of items of `elementsize` bytes, then all second bytes, and so on. @see V2-52 */
export const createShuffle: CodecFactory = (configuration) => {
  const itemSize = new Settings(configuration).integer("elementsize", 1, 2 ** 31 - 1, 4);
  return {
    kind: "bytes-to-bytes",
    name: "shuffle",
    maxEncodedSize: (decodedSize) => decodedSize,
    fixedEncodedSize: (decodedSize) => decodedSize,
    statedDecodedSize: (source) => source.length,
    encodeInto(source, target) {
      itemsToEncode(source, itemSize);
      kernels().shuffle(source, target, itemSize);
      return source.length;
    },
    decodeInto(source, target) {
      itemsToDecode(source, itemSize);
      if (source.length > target.length) throw overrun(target.length);
      kernels().unshuffle(source, target, itemSize);
      return source.length;
    },
  };
};
