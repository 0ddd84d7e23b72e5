import type { CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import type { DeltaKernels, NumberFormat } from "../kernels/kernel-types.ts";
import { kernelsOfThread } from "../kernels/kernels.ts";
import { convertNumbers } from "./convert.ts";
import { type BigArray, keeper, type NumberArray, type NumberType, numberType } from "./number-array.ts";
import { numberFilter } from "./number-filters.ts";

/** Set when the module with the kernels has been loaded. */
let deltaKernels: () => DeltaKernels;

/** Loads the kernels and returns the factory of `delta`. */
export async function loadDelta(): Promise<CodecFactory> {
  const { wasmDelta } = await import("../kernels/wasm-delta.ts");
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

/** The format of the type in the kernels; undefined for half floats, which are held in wider numbers. */
function numberFormatOf({ kind, size }: NumberType): NumberFormat | undefined {
  if (kind !== "float") return `i${8 * size}` as NumberFormat;
  return size === 2 ? undefined : (`f${8 * size}` as NumberFormat);
}

function bytesOf({ buffer, byteOffset, byteLength }: NumberArray | BigArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
