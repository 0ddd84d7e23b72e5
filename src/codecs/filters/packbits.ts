import type { BytesToBytesCodec, CodecFactory } from "../codec.ts";
import { corrupt, overrun } from "../limits.ts";

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
