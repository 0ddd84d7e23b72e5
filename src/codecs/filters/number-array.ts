import type { DataType, Endian } from "../../meta/data-type.ts";
import { isReal, NUMBER_KINDS, numberKindOf, type RealDataType } from "../../meta/number-kinds.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { readSmallFloats, writeSmallFloats } from "../../util/small-floats.ts";
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

/** Reads the numbers in `bytes`: a view if they are aligned and in the machine's byte order, otherwise a copy. */
export function readNumbers(bytes: Uint8Array, type: NumberType): NumberArray | BigArray {
  const items = Math.floor(bytes.length / type.size);
  const { bits } = numberKindOf(type);
  // JavaScript may lack arrays of these floats, so they are held as doubles, which represent them exactly.
  if (bits) return new Float64Array(readSmallFloats(aligned(bytes, type), bits));
  return viewOf(isDirect(bytes, type) ? bytes : aligned(bytes, type), type, items);
}

/** Bytes of the working copy of a number that is in another byte order, not aligned, or a 16-bit float. */
export function copySize(type: NumberType): number {
  return numberKindOf(type).bits ? type.size + Float64Array.BYTES_PER_ELEMENT : type.size;
}

/** Calls `fill` with an array for `items` numbers, then stores them in `target` as `type`. */
export function writeNumbers(
  target: Uint8Array,
  type: NumberType,
  items: number,
  fill: (numbers: NumberArray | BigArray) => void,
): void {
  const { bits } = numberKindOf(type);
  if (bits) {
    const numbers = new Float64Array(items);
    fill(numbers);
    const bytes = new Uint8Array(items * type.size);
    writeSmallFloats(numbers, bytes, bits);
    put(bytes, target, type);
  } else if (isDirect(target, type)) fill(viewOf(target, type, items));
  else {
    const bytes = new Uint8Array(items * type.size);
    fill(viewOf(bytes, type, items));
    put(bytes, target, type);
  }
}

/** Returns a function that converts results to `type`: integers wrap, floats round. Not for 64-bit integers. */
export function keeper(type: NumberType): (value: number) => number {
  const { kind, size } = type;
  if (kind === "float") {
    const { bits } = numberKindOf(type);
    if (bits) return (value) => bits.fromBits(bits.toBits(value));
    return size === 4 ? Math.fround : (value) => value;
  }
  const unused = 32 - 8 * size;
  return kind === "int" ? (value) => (value << unused) >> unused : (value) => (value << unused) >>> unused;
}

export function isBig(numbers: NumberArray | BigArray): numbers is BigArray {
  return numbers instanceof BigInt64Array || numbers instanceof BigUint64Array;
}

function viewOf(bytes: Uint8Array, type: NumberType, items: number): NumberArray | BigArray {
  const { Items } = numberKindOf(type);
  return new Items(bytes.buffer as ArrayBuffer, bytes.byteOffset, items);
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
export type NumberType = RealDataType & { readonly endian: Endian };

const TYPE = /^[<>|=]?(?:([iuf][1248])|[mM]8(?:\[.*\])?)$/;

/** The data type without its byte order. */
export function dataTypeOf({ endian: _, ...type }: NumberType): RealDataType {
  return type;
}

/** The number type of little-endian items; undefined if the data type is not a type of real numbers. */
export function numberTypeOf(dataType: DataType): NumberType | undefined {
  return isReal(dataType) ? { ...dataType, endian: "little" } : undefined;
}

/**
 * Reads the NumPy type in a setting, such as `<f4`; times are read as the integers that store them.
 *
 * @throws `invalid-metadata` if the setting is absent; `unsupported-data-type` if it is not a number type.
 */
export function numberType(settings: ConfigReader, name: string, fallback?: NumberType): NumberType {
  if (fallback && settings.value(name) === undefined) return fallback;
  const text = settings.text(name);
  const match = TYPE.exec(text);
  const [, code = "i8"] = match ?? [];
  const type = NUMBER_KINDS.find(({ numpy }) => numpy === code)?.type;
  if (match === null || type === undefined || !isReal(type)) {
    throw new ZarrflowError("unsupported-data-type", `\`${name}\` is not a number type`, {
      value: text,
      hint: "Filters support `i`, `u` and `f` types of 1 to 8 bytes, such as `<f4`.",
    });
  }
  return { ...type, endian: text.startsWith(">") ? "big" : "little" };
}
