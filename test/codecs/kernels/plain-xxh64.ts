import { wordsOf } from "../../../src/codecs/kernels/words.ts";

const P1 = 0x9e37_79b1_85eb_ca87n;
const P2 = 0xc2b2_ae3d_27d4_eb4fn;
const P3 = 0x1656_67b1_9e37_79f9n;
const P4 = 0x85eb_ca77_c2b2_ae63n;
const P5 = 0x27d4_eb2f_1656_67c5n;

/** XXH64 with seed 0, whose low 32 bits zstd frames carry as their checksum. */
export function xxh64(bytes: Uint8Array): bigint {
  const words = wordsOf(bytes);
  const { length } = bytes;
  let i = 0;
  let hash = P5;
  if (length >= 32) {
    let a = wrap(P1 + P2);
    let b = P2;
    let c = 0n;
    let d = wrap(-P1);
    for (; i + 32 <= length; i += 32) {
      a = round(a, words.getBigUint64(i, true));
      b = round(b, words.getBigUint64(i + 8, true));
      c = round(c, words.getBigUint64(i + 16, true));
      d = round(d, words.getBigUint64(i + 24, true));
    }
    hash = wrap(rotate(a, 1n) + rotate(b, 7n) + rotate(c, 12n) + rotate(d, 18n));
    for (const lane of [a, b, c, d]) hash = wrap((hash ^ round(0n, lane)) * P1 + P4);
  }
  hash = wrap(hash + BigInt(length));
  for (; i + 8 <= length; i += 8) {
    hash = wrap(rotate(hash ^ round(0n, words.getBigUint64(i, true)), 27n) * P1 + P4);
  }
  if (i + 4 <= length) {
    hash = wrap(rotate(hash ^ wrap(BigInt(words.getUint32(i, true)) * P1), 23n) * P2 + P3);
    i += 4;
  }
  for (; i < length; i++) hash = wrap(rotate(hash ^ wrap(BigInt(words.getUint8(i)) * P5), 11n) * P1);
  hash = wrap((hash ^ (hash >> 33n)) * P2);
  hash = wrap((hash ^ (hash >> 29n)) * P3);
  return hash ^ (hash >> 32n);
}

function round(lane: bigint, input: bigint): bigint {
  return wrap(rotate(wrap(lane + input * P2), 31n) * P1);
}

function rotate(value: bigint, bits: bigint): bigint {
  return wrap(value << bits) | (value >> (64n - bits));
}

function wrap(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}
