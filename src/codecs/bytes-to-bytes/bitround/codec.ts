import { isFixed } from "../../../meta/data-type.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { SIGNIFICAND } from "../../../util/significand.ts";
import type { BytesToBytesCodec, CodecFactory } from "../../codec.ts";
import { ConfigReader, encoderSetting } from "../../config-reader.ts";
import { overrun } from "../../failures.ts";
import { swapBytes } from "../../kernels/swap-bytes.ts";
import { wordsOf } from "../../kernels/words.ts";

/**
 * `bitround` of numcodecs: floats rounded, ties to even, to `keepbits` bits of their significand. Encoding is lossy;
 * decoding copies.
 */
export const createBitround: CodecFactory = (configuration, { spec, itemSize, endian }) => {
  const settings = new ConfigReader(configuration);
  const { value: keepBits, check } = encoderSetting(() => settings.integer("keepbits", 0, 52), 0);
  const copy = (source: Uint8Array, target: Uint8Array) => {
    if (source.length > target.length) throw overrun(target.length);
    target.set(source);
    return source.length;
  };
  return {
    kind: "bytes-to-bytes",
    name: "bitround",
    ...(isFixed(spec.dataType) && { encodedDataType: spec.dataType }),
    maxEncodedSize: (decodedSize) => decodedSize,
    fixedEncodedSize: (decodedSize) => decodedSize,
    assertEncodable: check,
    encodeInto(source, target) {
      const bits = SIGNIFICAND[itemSize] ?? 0;
      if (spec.dataType.kind !== "float" || keepBits > bits) {
        throw new ZarrflowError("codec-error", `cannot keep ${keepBits} bits of these items`, {
          hint: "The codec bitround works on floats, and keeps at most 10, 23 or 52 bits of 2, 4 or 8 bytes.",
        });
      }
      copy(source, target);
      if (keepBits === bits) return source.length;
      const floats = wordsOf(target.subarray(0, source.length));
      if (endian === "big") swapBytes(floats, 0, source.length, itemSize);
      roundBits(floats, itemSize, bits - keepBits);
      if (endian === "big") swapBytes(floats, 0, source.length, itemSize);
      return source.length;
    },
    decodeInto: copy,
  } satisfies BytesToBytesCodec;
};

/** Rounds away the lowest `drop` bits of each little-endian item, ties to even, as integers of its width. */
function roundBits(words: DataView, itemSize: number, drop: number): void {
  if (itemSize === 2) {
    const half = 2 ** (drop - 1) - 1;
    for (let i = 0; i < words.byteLength; i += 2) {
      const bits = words.getUint16(i, true);
      words.setUint16(i, (bits + half + ((bits >>> drop) & 1)) & -(2 ** drop), true);
    }
    return;
  }
  if (itemSize === 4) {
    const half = 2 ** (drop - 1) - 1;
    for (let i = 0; i < words.byteLength; i += 4) {
      const bits = words.getInt32(i, true);
      words.setInt32(i, (bits + half + ((bits >>> drop) & 1)) & -(2 ** drop), true);
    }
    return;
  }
  const lowHalf = drop > 32 ? 0xffff_ffff : 2 ** (drop - 1) - 1;
  const highHalf = drop > 32 ? 2 ** (drop - 33) - 1 : 0;
  const lowMask = drop >= 32 ? 0 : -(2 ** drop);
  const highMask = drop > 32 ? -(2 ** (drop - 32)) : -1;
  for (let i = 0; i < words.byteLength; i += 8) {
    const low = words.getUint32(i, true);
    const high = words.getInt32(i + 4, true);
    const odd = (drop < 32 ? low >>> drop : high >>> (drop - 32)) & 1;
    const sum = low + lowHalf + odd;
    words.setInt32(i, sum & lowMask, true);
    words.setInt32(i + 4, (high + highHalf + (sum > 0xffff_ffff ? 1 : 0)) & highMask, true);
  }
}
