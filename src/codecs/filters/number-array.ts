import type { DataType, Endian, FixedDataType } from "../../meta/data-type.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { fromFloat16Bits, toFloat16Bits } from "../../util/numbers.ts";
import type { ConfigReader } from "../config-reader.ts";
import { swapBytes, wordView } from "../kernels/swap-bytes.ts";

export type NumberArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;
export type BigArray = BigInt64Array | BigUint64Array;

const ARRAYS = {
  int: { 1: Int8Array, 2: Int16Array, 4: Int32Array, 8: BigInt64Array },
  uint: { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array },
  // Not every runtime has Float16Array, so half floats are held as doubles, which represent them exactly.
  float: { 1: Float64Array, 2: Float64Array, 4: Float32Array, 8: Float64Array },
} as const;

/** Reads the numbers in `bytes`: a view if they are aligned and in the machine's byte order, otherwise a copy. */
export function readNumbers(bytes: Uint8Array, type: NumberType): NumberArray | BigArray {
  const items = Math.floor(bytes.length / type.size);
  if (isHalf(type)) {
    const bits = new Uint16Array(aligned(bytes, type).buffer);
    const numbers = new Float64Array(items);
    for (let i = 0; i < items; i++) numbers[i] = fromFloat16Bits(bits[i] as number);
    return numbers;
  }
  if (isDirect(bytes, type)) return viewOf(bytes, type, items);
  const copy = aligned(bytes, type);
  return viewOf(copy, type, items);
}

/** Bytes of the working copy of a number that is in another byte order, not aligned, or a half float. */
export function copySize(type: NumberType): number {
  return isHalf(type) ? type.size + Float64Array.BYTES_PER_ELEMENT : type.size;
}

/** Calls `fill` with an array for `items` numbers, then stores them in `target` as `type`. */
export function writeNumbers(
  target: Uint8Array,
  type: NumberType,
  items: number,
  fill: (numbers: NumberArray | BigArray) => void,
): void {
  if (isHalf(type)) {
    const numbers = new Float64Array(items);
    fill(numbers);
    const bits = new Uint16Array(items);
    for (let i = 0; i < items; i++) bits[i] = toFloat16Bits(numbers[i] as number);
    put(new Uint8Array(bits.buffer), target, type);
  } else if (isDirect(target, type)) fill(viewOf(target, type, items));
  else {
    const bytes = new Uint8Array(items * type.size);
    fill(viewOf(bytes, type, items));
    put(bytes, target, type);
  }
}

/** Returns a function that converts results to `type`: integers wrap, floats round. Not for 64-bit integers. */
export function keeper({ kind, size }: NumberType): (value: number) => number {
  if (kind === "float") {
    if (size === 2) return (value) => fromFloat16Bits(toFloat16Bits(value));
    return size === 4 ? Math.fround : (value) => value;
  }
  const unused = 32 - 8 * size;
  return kind === "int" ? (value) => (value << unused) >> unused : (value) => (value << unused) >>> unused;
}

export function isBig(numbers: NumberArray | BigArray): numbers is BigArray {
  return numbers instanceof BigInt64Array || numbers instanceof BigUint64Array;
}

function viewOf(bytes: Uint8Array, { kind, size }: NumberType, items: number): NumberArray | BigArray {
  const NumberArray = ARRAYS[kind][size as 1 | 2 | 4 | 8];
  return new NumberArray(bytes.buffer as ArrayBuffer, bytes.byteOffset, items);
}

function isHalf({ kind, size }: NumberType): boolean {
  return kind === "float" && size === 2;
}

function isDirect(bytes: Uint8Array, { size, endian }: NumberType): boolean {
  return (endian === "little" || size === 1) && bytes.byteOffset % size === 0;
}

/** Copies the whole items of `bytes` to a new buffer, aligned and little-endian. */
function aligned(bytes: Uint8Array, { size, endian }: NumberType): Uint8Array {
  const copy = new Uint8Array(Math.floor(bytes.length / size) * size);
  copy.set(bytes.subarray(0, copy.length));
  if (endian === "big" && size > 1) swapBytes(wordView(copy), 0, copy.length, size);
  return copy;
}

function put(bytes: Uint8Array, target: Uint8Array, { size, endian }: NumberType): void {
  if (endian === "big" && size > 1) swapBytes(wordView(bytes), 0, bytes.length, size);
  target.set(bytes);
}

/** The type of the numbers that a filter computes with. */
export interface NumberType {
  readonly kind: "int" | "uint" | "float";
  readonly size: 1 | 2 | 4 | 8;
  readonly endian: Endian;
}

const KINDS = { i: "int", u: "uint", f: "float", m: "int", M: "int" } as const;
const TYPE = /^[<>|=]?([iuf][1248]|[mM]8(?:\[.*\])?)$/;

const SIZES = [1, 2, 4, 8] as const;

/** The data type without its byte order. */
export function dataTypeOf({ kind, size }: NumberType): FixedDataType {
  if (kind !== "float") return { kind, size };
  return { kind, size: size === 1 ? 2 : size };
}

/** The number type of little-endian items; undefined if the data type is not a type of real numbers. */
export function numberTypeOf(dataType: DataType): NumberType | undefined {
  const { kind } = dataType;
  if (kind !== "int" && kind !== "uint" && kind !== "float") return undefined;
  return { kind, size: dataType.size, endian: "little" };
}

/**
 * Reads the NumPy type in a setting, such as `<f4`; times are read as the integers that store them.
 *
 * @throws `invalid-metadata` if the setting is absent; `unsupported-data-type` if it is not a number type.
 */
export function numberType(settings: ConfigReader, name: string, fallback?: NumberType): NumberType {
  if (fallback && settings.value(name) === undefined) return fallback;
  const text = settings.text(name);
  const [, code = ""] = TYPE.exec(text) ?? [];
  const kind = KINDS[code[0] as keyof typeof KINDS];
  const size = SIZES.find((one) => String(one) === code[1]);
  if (kind === undefined || size === undefined || (kind === "float" && size === 1)) {
    throw new ZarrflowError("unsupported-data-type", `\`${name}\` is not a number type`, {
      value: text,
      hint: "Filters compute with `i`, `u` and `f` types of 1 to 8 bytes, such as `<f4`.",
    });
  }
  return { kind, size, endian: text.startsWith(">") ? "big" : "little" };
}
