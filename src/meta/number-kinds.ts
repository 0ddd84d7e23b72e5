import { bytesEqual } from "../util/bytes.ts";
import { type FloatBits, smallFloats } from "../util/small-floats.ts";

/** Data types of numbers; times are numbers of units. */
export type NumberDataType =
  | { readonly kind: "bool"; readonly size: 1 }
  | RealDataType
  | { readonly kind: "complex"; readonly size: 8 | 16 }
  | {
      readonly kind: "datetime" | "timedelta";
      readonly size: 8;
      readonly unit: string;
      readonly scale: number;
    };

/** Data types of integers and floats. */
export type RealDataType =
  | { readonly kind: "int" | "uint"; readonly size: 1 | 2 | 4 | 8 }
  | {
      readonly kind: "float";
      readonly size: 2 | 4 | 8;
      /** The format of the floats, if it is none of IEEE 754. */
      readonly format?: "bfloat16";
    };

/** How numbers are named, stored and computed with: one record for each data type. */
export interface NumberKind {
  /** Name in Zarr v3 and in `ZarrArray.dataType`; times add their unit. */
  readonly name: string;
  /** The data type; for times that of the integers that store them. */
  readonly type: Exclude<NumberDataType, { readonly unit: string }>;
  /** NumPy's name without byte order; absent if NumPy, and with it v1, v2 and the drafts, lack the type. */
  readonly numpy?: string;
  /** Other names in v3. */
  readonly aliases?: readonly string[];
  /** Typed array of the numbers in JavaScript. Complex numbers take two entries. */
  readonly Items: TypedArrayConstructor;
  /** Set if stored numbers are the bits of floats that `Items` does not have. */
  readonly bits?: FloatBits;
  /** The kind of the two parts of complex numbers. */
  readonly part?: NumberKind;
  /** Precision of floats: bits of the significand, and the largest exponent. */
  readonly significand?: number;
  readonly exponent?: number;
  /** Reads one number, or one part of a complex number. Bytes are little-endian. */
  readonly read: (view: DataView, at: number) => number | bigint;
  /** Writes one number, or one part. Floats round to the nearest; NaN becomes the positive quiet NaN. */
  readonly write: (view: DataView, at: number, value: number | bigint) => void;
}

/** Numbers that are stored as in a typed array, which `DataView` calls `name`. */
function stored<Items extends TypedArrayConstructor>(Items: Items, name: ViewName) {
  const get = DataView.prototype[`get${name}`] as (at: number, little: boolean) => number | bigint;
  const set = DataView.prototype[`set${name}`] as (
    at: number,
    value: number | bigint,
    little: boolean,
  ) => void;
  const toOwn = name.startsWith("Big") ? BigInt : Number;
  return {
    Items,
    read: (view: DataView, at: number) => get.call(view, at, true),
    write: (view: DataView, at: number, value: number | bigint) => set.call(view, at, toOwn(value), true),
  };
}

type ViewName = keyof DataView & `get${string}` extends `get${infer Name}` ? Name : never;

/** 16-bit floats, which are read as `Float32Array`, because not every runtime has arrays for them. */
function halfFloats(significand: number, exponent: number) {
  const bits = smallFloats(significand);
  return {
    Items: Float32Array,
    bits,
    significand,
    exponent,
    read: (view: DataView, at: number) => bits.fromBits(view.getUint16(at, true)),
    write: (view: DataView, at: number, value: number | bigint) =>
      view.setUint16(at, bits.toBits(Number(value)), true),
  };
}

const INT64 = stored(BigInt64Array, "BigInt64");
const SINGLE = { significand: 23, exponent: 127, ...stored(Float32Array, "Float32") };
const DOUBLE = { significand: 52, exponent: 1023, ...stored(Float64Array, "Float64") };
const FLOAT32 = { name: "float32", type: { kind: "float", size: 4 }, numpy: "f4", ...SINGLE } as const;
export const FLOAT64 = { name: "float64", type: { kind: "float", size: 8 }, numpy: "f8", ...DOUBLE } as const;

const KINDS = [
  { name: "bool", type: { kind: "bool", size: 1 }, numpy: "b1", ...stored(Uint8Array, "Uint8") },
  { name: "int8", type: { kind: "int", size: 1 }, numpy: "i1", ...stored(Int8Array, "Int8") },
  { name: "int16", type: { kind: "int", size: 2 }, numpy: "i2", ...stored(Int16Array, "Int16") },
  { name: "int32", type: { kind: "int", size: 4 }, numpy: "i4", ...stored(Int32Array, "Int32") },
  { name: "int64", type: { kind: "int", size: 8 }, numpy: "i8", ...INT64 },
  { name: "uint8", type: { kind: "uint", size: 1 }, numpy: "u1", ...stored(Uint8Array, "Uint8") },
  { name: "uint16", type: { kind: "uint", size: 2 }, numpy: "u2", ...stored(Uint16Array, "Uint16") },
  { name: "uint32", type: { kind: "uint", size: 4 }, numpy: "u4", ...stored(Uint32Array, "Uint32") },
  { name: "uint64", type: { kind: "uint", size: 8 }, numpy: "u8", ...stored(BigUint64Array, "BigUint64") },
  { name: "float16", type: { kind: "float", size: 2 }, numpy: "f2", ...halfFloats(10, 15) },
  { name: "bfloat16", type: { kind: "float", size: 2, format: "bfloat16" }, ...halfFloats(7, 127) },
  FLOAT32,
  FLOAT64,
  {
    name: "complex64",
    type: { kind: "complex", size: 8 },
    numpy: "c8",
    aliases: ["complex_float32"],
    part: FLOAT32,
    ...SINGLE,
  },
  {
    name: "complex128",
    type: { kind: "complex", size: 16 },
    numpy: "c16",
    aliases: ["complex_float64"],
    part: FLOAT64,
    ...DOUBLE,
  },
] as const satisfies readonly NumberKind[];

/** The kinds with names of their own. Documents, codecs, conversions and readers of values look them up here. */
export const NUMBER_KINDS: readonly NumberKind[] = KINDS;

/** Times, whose names and NumPy types end in their unit. */
const DATETIME: NumberKind = { name: "datetime64", type: { kind: "int", size: 8 }, numpy: "M8", ...INT64 };
const TIMEDELTA: NumberKind = { ...DATETIME, name: "timedelta64", numpy: "m8" };

const BY_TYPE = new Map<string, NumberKind[]>([
  ["datetime", Array(9).fill(DATETIME)],
  ["timedelta", Array(9).fill(TIMEDELTA)],
]);
for (const kind of NUMBER_KINDS) {
  const key = keyOf(kind.type);
  const sizes = BY_TYPE.get(key) ?? [];
  sizes[kind.type.size] = kind;
  BY_TYPE.set(key, sizes);
}

function keyOf(type: { readonly kind: string; readonly format?: string }): string {
  return type.format ?? type.kind;
}

/** The record of a data type; undefined for types other than numbers. */
export function numberKindOf(dataType: NumberDataType): NumberKind;
export function numberKindOf(dataType: { readonly kind: string }): NumberKind | undefined;
export function numberKindOf(dataType: { readonly kind: string; readonly size?: number }) {
  return BY_TYPE.get(keyOf(dataType))?.[dataType.size ?? 0];
}

/** True for data types of numbers, including times. */
export function isNumber(dataType: { readonly kind: string }): dataType is NumberDataType {
  return BY_TYPE.has(dataType.kind);
}

/** True for integers and floats. */
export function isReal(dataType: { readonly kind: string }): dataType is RealDataType {
  const { kind } = dataType;
  return kind === "int" || kind === "uint" || kind === "float";
}

type Kinds = (typeof KINDS)[number];

/** Numeric types, each with the typed array that contains its items; complex numbers use two entries per item. */
export type NumberArrays = {
  readonly [Kind in Kinds as Kind["name"]]: Kind["Items"]["prototype"];
};

/** Integers and floats whose items are numbers in JavaScript. */
export type RealName = Extract<Kinds, { readonly type: RealDataType }>["name"] & SmallName;
type SmallName = Exclude<Kinds["name"], "int64" | "uint64">;

/** NumPy's names of numeric types, without byte order. */
export type NumpyNames = {
  readonly [Kind in Extract<Kinds, { readonly numpy: string }> as Kind["numpy"]]: Kind["name"];
};

/** Other names of numeric types in v3. */
export type NumberAliases = {
  readonly [Kind in Extract<
    Kinds,
    { readonly aliases: readonly string[] }
  > as Kind["aliases"][number]]: Kind["name"];
};

/** Numbers of one type in a typed array. */
export type Numbers =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigUint64Array
  | BigInt64Array
  | Float32Array
  | Float64Array;

export type TypedArrayConstructor =
  | Uint8ArrayConstructor
  | Int8ArrayConstructor
  | Uint16ArrayConstructor
  | Int16ArrayConstructor
  | Uint32ArrayConstructor
  | Int32ArrayConstructor
  | BigUint64ArrayConstructor
  | BigInt64ArrayConstructor
  | Float32ArrayConstructor
  | Float64ArrayConstructor;

/** The typed array for a type's stored numbers; undefined for types without one, such as float16 and text. */
export function typedArrayOf(dataType: { readonly kind: string }): TypedArrayConstructor | undefined {
  const kind = numberKindOf(dataType);
  return kind?.bits ? undefined : kind?.Items;
}

/** True if the numbers are bigints in JavaScript. */
export function areBig({ Items }: NumberKind): boolean {
  return Items === BigInt64Array || Items === BigUint64Array;
}

/** Number of typed array entries per item. */
export function numbersPerItem(dataType: { readonly kind: string }): 1 | 2 {
  return numberKindOf(dataType)?.part ? 2 : 1;
}

/** The smallest and the largest integer of a type of integers, or of times. */
export function integerRange({ type }: NumberKind): { readonly least: bigint; readonly most: bigint } {
  const isSigned = type.kind === "int";
  const end = 1n << BigInt(8 * type.size - (isSigned ? 1 : 0));
  return { least: isSigned ? -end : 0n, most: end - 1n };
}

/** The bytes of an integer; undefined if it is out of range. */
export function integerBytes(value: bigint, kind: NumberKind): Uint8Array<ArrayBuffer> | undefined {
  const { least, most } = integerRange(kind);
  return value < least || value > most ? undefined : numberBytes(value, kind);
}

/** The bytes of the nearest float, or of an integer in range. */
export function numberBytes(value: number | bigint, kind: NumberKind): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array((kind.part ?? kind).type.size);
  kind.write(new DataView(bytes.buffer), 0, value);
  return bytes;
}

export function readNumber(bytes: Uint8Array, kind: NumberKind): number | bigint {
  return kind.read(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);
}

/** The two parts of a complex number. */
export function partsOf(bytes: Uint8Array): [Uint8Array, Uint8Array] {
  return [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)];
}

/** True unless the bytes are a NaN other than the canonical one, which contains more information than its value. */
export function isCanonical(bytes: Uint8Array, kind: NumberKind): boolean {
  const value = readNumber(bytes, kind);
  return !Number.isNaN(value) || bytesEqual(bytes, numberBytes(Number.NaN, kind));
}
