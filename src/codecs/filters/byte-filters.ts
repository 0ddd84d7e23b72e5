import type { BytesToBytesCodec, CodecFactory } from "../codec.ts";
import { ConfigReader, encoderSetting } from "../config-reader.ts";
import { shuffleKernels } from "../kernels/wasm-filters.ts";
import { corrupt, itemsToDecode, itemsToEncode, overrun } from "../limits.ts";

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

/**
 * `packbits` of numcodecs: one byte with the number of padding bits, then eight booleans per byte, the first in the
 * highest bit.
 */
export const createPackbits: CodecFactory = () => {
  const encodedSize = (decodedSize: number) => 1 + Math.ceil(decodedSize / 8);
  return {
    kind: "bytes-to-bytes",
    name: "packbits",
    maxEncodedSize: encodedSize,
    fixedEncodedSize: encodedSize,
    statedDecodedSize,
    encodeInto(source, target) {
      const size = encodedSize(source.length);
      target[0] = (size - 1) * 8 - source.length;
      for (let t = 1, s = 0; t < size; t++) {
        let byte = 0;
        for (let bit = 128; bit > 0 && s < source.length; bit >>= 1) if (source[s++]) byte |= bit;
        target[t] = byte;
      }
      return size;
    },
    decodeInto(source, target) {
      const size = statedDecodedSize(source);
      if (size > target.length) throw overrun(target.length);
      for (let t = 0; t < size; t++) {
        target[t] = ((source[1 + (t >>> 3)] as number) >>> (7 - (t & 7))) & 1;
      }
      return size;
    },
  } satisfies BytesToBytesCodec;
};

function statedDecodedSize(source: Uint8Array): number {
  const [padding] = source;
  if (padding === undefined || padding > 7) throw corrupt("the number of padding bits is missing or above 7");
  const size = (source.length - 1) * 8 - padding;
  if (size < 0) throw corrupt("there are fewer bits than padding bits");
  return size;
}
