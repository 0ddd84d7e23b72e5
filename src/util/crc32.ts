import { builtin } from "./platform.node.ts";

/**
 * CRC-32 as in zip, gzip and PNG (reflected polynomial 0xedb88320) of `bytes`, continuing from the CRC `seed`. Uses
 * the runtime's implementation if it has one.
 */
export function crc32(bytes: Uint8Array, seed = 0): number {
  best ??= native() ?? sliced;
  return best(bytes, seed);
}

type Crc32 = (bytes: Uint8Array, seed: number) => number;

/** Chosen on first use, because loading `node:zlib` takes a millisecond. */
let best: Crc32 | undefined;

function native(): Crc32 | undefined {
  return (builtin("node:zlib") as { crc32?: Crc32 } | undefined)?.crc32;
}

/** Eight tables of 256: the CRC of each byte followed by 0 to 7 zero bytes. */
let tables: Uint32Array | undefined;

function makeTables(): Uint32Array {
  const made = new Uint32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
    made[byte] = crc;
  }
  for (let i = 256; i < made.length; i++) {
    const crc = made[i - 256] ?? 0;
    made[i] = (crc >>> 8) ^ (made[crc & 0xff] ?? 0);
  }
  return made;
}

/** Computes the CRC in JavaScript, eight bytes per step ("slicing by 8"). */
export function sliced(bytes: Uint8Array, seed: number): number {
  tables ??= makeTables();
  const table = tables;
  /** The CRC of the low byte of `byte` followed by `zeros` zero bytes. */
  const followed = (zeros: number, byte: number) => table[(zeros << 8) | (byte & 0xff)] ?? 0;
  const at = (i: number) => bytes[i] ?? 0;
  let crc = ~seed;
  let i = 0;
  for (const end = bytes.length - 7; i < end; i += 8) {
    crc ^= at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24);
    crc =
      followed(7, crc) ^
      followed(6, crc >>> 8) ^
      followed(5, crc >>> 16) ^
      followed(4, crc >>> 24) ^
      followed(3, at(i + 4)) ^
      followed(2, at(i + 5)) ^
      followed(1, at(i + 6)) ^
      followed(0, at(i + 7));
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ followed(0, crc ^ at(i));
  return ~crc >>> 0;
}

/** Combines the CRC-32 of two consecutive parts, given the length of the second; needs none of their bytes. */
export function crc32OfBoth(first: number, second: number, secondLength: number): number {
  return (multiply(first, powerOfX(8 * secondLength)) ^ second) >>> 0;
}

const POLYNOMIAL = 0xedb88320;
/** 1 and x, with the coefficient of x^0 in the highest bit. */
const ONE = 0x80000000;
const X = 0x40000000;

/** x^exponent, modulo the polynomial. */
function powerOfX(exponent: number): number {
  let power = ONE;
  let square = X;
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = multiply(power, square);
    square = multiply(square, square);
  }
  return power;
}

/** The product of two polynomials over GF(2), modulo the CRC's polynomial. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= shifted;
    shifted = (shifted >>> 1) ^ (shifted & 1 ? POLYNOMIAL : 0);
  }
  return product;
}
