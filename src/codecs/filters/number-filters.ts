import { isFixed } from "../../meta/data-type.ts";
import { numberKindOf } from "../../meta/number-kinds.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { BytesToBytesCodec, CodecFactory } from "../codec.ts";
import { ConfigReader, encoderSetting } from "../config-reader.ts";
import type { DeltaKernels, NumberFormat } from "../kernels/kernel-types.ts";
import { kernelsOfThread } from "../kernels/kernels.ts";
import { swapBytes, wordView } from "../kernels/swap-bytes.ts";
import { itemsToDecode, itemsToEncode, overrun } from "../limits.ts";
import { convertNumbers, roundToEven } from "./convert.ts";
import {
  type BigArray,
  copySize,
  dataTypeOf,
  keeper,
  type NumberArray,
  type NumberType,
  numberType,
  readNumbers,
  writeNumbers,
} from "./number-array.ts";

/** Computes one array of numbers from another of the same length. */
type Compute = (from: NumberArray | BigArray, to: NumberArray | BigArray) => void;

/** A filter that computes each number of one type from a number of another type. */
export interface NumberFilter {
  readonly name: string;
  /** Type of the numbers before encoding. */
  readonly decoded: NumberType;
  /** Type of the stored numbers. */
  readonly stored: NumberType;
  readonly encode: Compute;
  readonly decode: Compute;
}

/** Bytes of an intermediate result between the two types. */
const RESULT_SIZE = 8;

/** Creates the codec of a filter over numbers; its sizes follow from the two types. */
export function numberFilter({ name, decoded, stored, encode, decode }: NumberFilter): BytesToBytesCodec {
  const encodedSize = (decodedSize: number) => Math.floor(decodedSize / decoded.size) * stored.size;
  return {
    kind: "bytes-to-bytes",
    name,
    encodedDataType: dataTypeOf(stored),
    maxEncodedSize: encodedSize,
    fixedEncodedSize: encodedSize,
    statedDecodedSize: (source) => Math.floor(source.length / stored.size) * decoded.size,
    // The kernels hold copies of their own.
    scratchSize: (decodedSize) =>
      Math.ceil(decodedSize / decoded.size) * (RESULT_SIZE + 2 * (copySize(decoded) + copySize(stored))),
    encodeInto(source, target) {
      const items = itemsToEncode(source, decoded.size);
      writeNumbers(target, stored, items, (to) => encode(readNumbers(source, decoded), to));
      return items * stored.size;
    },
    decodeInto(source, target) {
      const items = itemsToDecode(source, stored.size);
      if (items * decoded.size > target.length) throw overrun(target.length);
      writeNumbers(target, decoded, items, (to) => decode(readNumbers(source, stored), to));
      return items * decoded.size;
    },
  };
}

/** `astype` of numcodecs: numbers of `decode_dtype` stored as `encode_dtype`, cast as in C. */
export const createAstype: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  return numberFilter({
    name: "astype",
    decoded: numberType(settings, "decode_dtype"),
    stored: numberType(settings, "encode_dtype"),
    encode: convertNumbers,
    decode: convertNumbers,
  });
};

/**
 * `fixedscaleoffset` of numcodecs: stores `(x - offset) * scale` of `dtype`, rounded, as `astype`. Floats, including
 * offset and scale, are computed in their own precision; integers as doubles.
 */
export const createFixedScaleOffset: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const offset = settings.number("offset");
  const scale = settings.number("scale");
  const decoded = numberType(settings, "dtype");
  const stored = numberType(settings, "astype", decoded);
  return numberFilter({
    name: "fixedscaleoffset",
    decoded,
    stored,
    encode(from, to) {
      const keep = precision(decoded);
      const [o, s] = [keep(offset), keep(scale)];
      compute(from, to, (value) => roundToEven(keep(keep(value - o) * s)));
    },
    decode(from, to) {
      const keep = precision(stored);
      const [o, s] = [keep(offset), keep(scale)];
      compute(from, to, (value) => keep(keep(value / s) + o));
    },
  });
};

function precision(type: NumberType): (value: number) => number {
  return type.kind === "float" ? keeper(type) : (value) => value;
}

function compute(
  from: NumberArray | BigArray,
  to: NumberArray | BigArray,
  result: (value: number) => number,
): void {
  const results = new Float64Array(from.length);
  for (let i = 0; i < from.length; i++) results[i] = result(Number(from[i]));
  convertNumbers(results, to);
}

/**
 * `quantize` of numcodecs: floats rounded to multiples of a power of two that keeps `digits` decimal digits. Encoding
 * is lossy; decoding only converts `astype` to `dtype`.
 */
export const createQuantize: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const { value: digits, check } = encoderSetting(() => settings.integer("digits", -300, 300), 0);
  const decoded = numberType(settings, "dtype");
  const stored = numberType(settings, "astype", decoded);
  if (decoded.kind !== "float" || stored.kind !== "float") {
    throw new ZarrflowError("unsupported-data-type", "`dtype` and `astype` must be floats");
  }
  const scale = 2 ** Math.ceil(Math.log2(10 ** digits));
  const filter = numberFilter({
    name: "quantize",
    decoded,
    stored,
    encode(from, to) {
      const keep = keeper(decoded);
      const rounded = new Float64Array(from.length);
      for (let i = 0; i < from.length; i++) {
        rounded[i] = keep(roundToEven(keep(scale * Number(from[i]))) / scale);
      }
      convertNumbers(rounded, to);
    },
    decode: convertNumbers,
  });
  return { ...filter, assertEncodable: check };
};

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
      const bits = numberKindOf(spec.dataType)?.significand ?? 0;
      if (spec.dataType.kind !== "float" || keepBits > bits) {
        throw new ZarrflowError("codec-error", `cannot keep ${keepBits} bits of these items`, {
          hint: "The codec bitround works on floats and keeps at most 10, 23 or 52 bits of items of 2, 4 or 8 bytes.",
        });
      }
      copy(source, target);
      if (keepBits === bits) return source.length;
      const floats = wordView(target.subarray(0, source.length));
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

/** Set when the module with the kernels has been loaded. */
let deltaKernels: () => DeltaKernels;

/** Loads the kernels and returns the factory of `delta`. */
export async function loadDelta(): Promise<CodecFactory> {
  const { wasmDelta } = await import("../kernels/wasm-filters.ts");
  deltaKernels ??= kernelsOfThread(wasmDelta);
  return createDelta;
}

/**
 * `delta` of numcodecs: the first number, then differences, computed in `dtype` and stored as `astype`. Decoding sums
 * them in `dtype`. Integers wrap.
 */
const createDelta: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const decoded = numberType(settings, "dtype");
  const stored = numberType(settings, "astype", decoded);
  const sameType = decoded.kind === stored.kind && decoded.size === stored.size;
  return numberFilter({
    name: "delta",
    decoded,
    stored,
    encode(from, to) {
      const own = sameType ? to : from.slice();
      encodeDifferences(from, own, decoded);
      if (own !== to) convertNumbers(own, to);
    },
    decode(from, to) {
      convertNumbers(from, to);
      decodeSums(to, decoded);
    },
  });
};

function encodeDifferences(from: NumberArray | BigArray, to: NumberArray | BigArray, type: NumberType): void {
  const format = numberFormatOf(type);
  if (format) {
    deltaKernels().deltaEncode(bytesOf(from), bytesOf(to), format);
    return;
  }
  const keep = keeper(type);
  let previous = 0;
  for (let i = 0; i < from.length; i++) {
    const value = from[i] as number;
    to[i] = i === 0 ? value : keep(value - previous);
    previous = value;
  }
}

/** Replaces differences by running sums, in place. */
function decodeSums(numbers: NumberArray | BigArray, type: NumberType): void {
  const format = numberFormatOf(type);
  if (format) {
    deltaKernels().deltaDecode(bytesOf(numbers), format);
    return;
  }
  const keep = keeper(type);
  let total = numbers[0] as number;
  for (let i = 1; i < numbers.length; i++) {
    total = keep(total + (numbers[i] as number));
    numbers[i] = total;
  }
}

/** The format of the type in the kernels; undefined for 16-bit floats, which are computed as wider numbers. */
function numberFormatOf(type: NumberType): NumberFormat | undefined {
  if (numberKindOf(type).bits) return undefined;
  return `${type.kind === "float" ? "f" : "i"}${8 * type.size}` as NumberFormat;
}

function bytesOf({ buffer, byteOffset, byteLength }: NumberArray | BigArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
