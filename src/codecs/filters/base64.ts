import type { BytesToBytesCodec, CodecFactory } from "../codec.ts";
import { corrupt, overrun } from "../limits.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PADDING = 0x3d;
const NONE = 0xff;

const LETTERS = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0));
const SIXES = new Uint8Array(256).fill(NONE);
for (const [six, letter] of LETTERS.entries()) SIXES[letter] = six;

/** `base64` of numcodecs: the standard alphabet, with padding. */
export const createBase64: CodecFactory = () => {
  const encodedSize = (decodedSize: number) => 4 * Math.ceil(decodedSize / 3);
  return {
    kind: "bytes-to-bytes",
    name: "base64",
    maxEncodedSize: encodedSize,
    fixedEncodedSize: encodedSize,
    statedDecodedSize,
    encodeInto: encode,
    decodeInto: decode,
  } satisfies BytesToBytesCodec;
};

function encode(source: Uint8Array, target: Uint8Array): number {
  let t = 0;
  for (let s = 0; s < source.length; s += 3) {
    const three = ((source[s] ?? 0) << 16) | ((source[s + 1] ?? 0) << 8) | (source[s + 2] ?? 0);
    target[t] = LETTERS[three >>> 18] as number;
    target[t + 1] = LETTERS[(three >>> 12) & 63] as number;
    target[t + 2] = LETTERS[(three >>> 6) & 63] as number;
    target[t + 3] = LETTERS[three & 63] as number;
    t += 4;
  }
  const missing = (3 - (source.length % 3)) % 3;
  target.fill(PADDING, t - missing, t);
  return t;
}

function decode(source: Uint8Array, target: Uint8Array): number {
  const size = statedDecodedSize(source);
  if (size > target.length) throw overrun(target.length);
  const letters = letterCount(source);
  let t = 0;
  for (let s = 0; s < source.length; s += 4) {
    let four = 0;
    for (let i = s; i < s + 4; i++) {
      const six = i < letters ? (SIXES[source[i] as number] as number) : 0;
      if (six === NONE) throw corrupt(`byte ${i} is not in the Base64 alphabet`);
      four = (four << 6) | six;
    }
    for (let shift = 16; shift >= 0 && t < size; shift -= 8) target[t++] = (four >>> shift) & 0xff;
  }
  return size;
}

function statedDecodedSize(source: Uint8Array): number {
  if (source.length % 4 !== 0)
    throw corrupt("the length of Base64 text must be a multiple of 4", { found: source.length });
  return Math.floor((letterCount(source) * 3) / 4);
}

/** Number of letters before the padding. */
function letterCount(source: Uint8Array): number {
  if (source.at(-1) !== PADDING) return source.length;
  return source.length - (source.at(-2) === PADDING ? 2 : 1);
}
