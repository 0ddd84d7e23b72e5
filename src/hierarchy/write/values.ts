import type { ChunkData, FixedData, VariableData } from "../../codecs/chunk-data.ts";
import { packItems } from "../../codecs/items/packed-items.ts";
import { type DataType, type Field, type FixedDataType, fieldItems, isFixed } from "../../meta/data-type.ts";
import type { BytesName, DataTypeName, StructName, TextName, TimeName } from "../../meta/data-type-name.ts";
import { padBytes, parseStringFill, parseTextFill } from "../../meta/fill-values.ts";
import {
  integerBytes,
  type NumberArrays,
  type NumberKind,
  numberBytes,
  numberKindOf,
  numbersPerItem,
  type TypedArrayConstructor,
  typedArrayOf,
} from "../../meta/number-kinds.ts";
import type { DecodedChunk, Region } from "../../streams/chunk.ts";
import { mapConcurrent } from "../../streams/map-concurrent.ts";
import { joinBytes, plainBuffers } from "../../util/bytes.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { fromPlain } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import { invalidOption, isObject } from "../../util/options.ts";
import { coordsOf, cStrides, product } from "../../util/shape.ts";
import { writeSmallFloats } from "../../util/small-floats.ts";
import { WritableStream } from "../../util/web-streams.ts";

/** The JavaScript type of an item, by data type. */
type ItemsByName = Readonly<
  Record<Exclude<keyof NumberArrays, "bool" | "complex64" | "complex128">, number | bigint>
> & {
  readonly bool: boolean;
} & Readonly<Record<"complex64" | "complex128", readonly number[]>> &
  Readonly<Record<TimeName, number | bigint>> &
  Readonly<Record<TextName, string>> &
  Readonly<Record<BytesName, Uint8Array>> &
  Readonly<Record<StructName, Readonly<Record<string, unknown>>>> & { readonly object: unknown };

/**
 * Items to be written to an array of type `Name`, or of any type. Either a typed array of the data type (bool and uint8
 * as `Uint8Array`, 16-bit floats as `Float32Array`, 64-bit integers and times as bigints, complex as two numbers per
 * item), little-endian bytes as a `Uint8Array`, or single values, as an array or as returned by `slice`: numbers,
 * bigints, booleans, strings, bytes, objects of fields.
 */
export type Values<Name extends DataTypeName = DataTypeName> =
  | (Name extends keyof NumberArrays ? NumberArrays[Name] : Name extends TimeName ? BigInt64Array : never)
  | Uint8Array
  | Uint8ClampedArray
  | ValueList<ItemsByName[Name]>;

/** Values with access by index. */
export interface ValueList<T = unknown> extends Iterable<T> {
  readonly length: number;
  at(index: number): T | undefined;
  /** Excludes typed arrays, whose items have one data type. */
  readonly BYTES_PER_ELEMENT?: never;
}

export interface ValuesPlace {
  readonly dataType: DataType;
  /** Shape of the box to fill. */
  readonly shape: readonly number[];
  /** Distance in `values`, in items, between neighbors along each dimension; C order without gaps by default. */
  readonly stride?: readonly number[] | undefined;
}

/**
 * Converts values to chunk data. Typed arrays and bytes are used in place, without a copy.
 *
 * @throws `invalid-option` if they do not have the data type, or if their number differs from that of the items in the
 *   box.
 */
export function chunkDataOf(values: Values, place: ValuesPlace): ChunkData {
  const { dataType, shape } = place;
  if (!isObject(values) || !("length" in values || ArrayBuffer.isView(values)))
    throw invalidOption("these are not values", "a typed array or a list", values);
  if (!isFixed(dataType)) return variableData(values, place);
  const itemSize = dataType.size;
  if (ArrayBuffer.isView(values)) {
    const bytes = bytesOf(values, dataType);
    const strides = checkedStrides(bytes.length / itemSize, place);
    return { kind: "fixed", bytes, itemSize, shape, strides };
  }
  const Numbers = typedArrayOf(dataType);
  if (Numbers && numbersPerItem(dataType) === 1) {
    const strides = checkedStrides(values.length, place);
    return { kind: "fixed", bytes: bytesOfNumbers(values, Numbers, dataType), itemSize, shape, strides };
  }
  return packedItems(values, place, itemSize);
}

/**
 * Counts the items in `values`.
 *
 * @throws `invalid-option` for a typed array of another type.
 */
export function countItems(values: Values, dataType: DataType): number {
  if (!ArrayBuffer.isView(values)) return values.length;
  if (!isFixed(dataType)) throw otherType(values, dataType);
  assertFits(values, dataType);
  return values.byteLength / (isWidened(values, dataType) ? 4 : dataType.size);
}

/** The bytes of a view that fits the data type. */
function bytesOf(values: ArrayBufferView, dataType: FixedDataType): Uint8Array {
  assertFits(values, dataType);
  const { bits } = numberKindOf(dataType) ?? {};
  if (bits && isWidened(values, dataType)) {
    const bytes = new Uint8Array(2 * values.length);
    writeSmallFloats(values, bytes, bits);
    return bytes;
  }
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** True for 16-bit floats that are given as float32, because JavaScript may not have arrays for them. */
function isWidened(values: ArrayBufferView, dataType: FixedDataType): values is Float32Array {
  return numberKindOf(dataType)?.bits !== undefined && values instanceof Float32Array;
}

function assertFits(values: ArrayBufferView, dataType: FixedDataType): void {
  const Numbers = typedArrayOf(dataType);
  const fits =
    values instanceof Uint8Array ||
    (Numbers && values instanceof Numbers) ||
    (Numbers === Uint8Array && values instanceof Uint8ClampedArray) ||
    isWidened(values, dataType);
  if (!fits) throw otherType(values, dataType);
}

function otherType(values: ArrayBufferView, dataType: DataType): ZarrflowError {
  const own = typedArrayOf(dataType)?.name ?? `single values of kind ${dataType.kind}`;
  return new ZarrflowError("invalid-option", "the values do not have the array's data type", {
    expected: isFixed(dataType) ? `${own}, or a Uint8Array of their bytes` : own,
    found: values.constructor.name,
  });
}

/** Converts single numbers to the bytes of a typed array, which must represent integers exactly. */
function bytesOfNumbers(
  values: ValueList,
  Numbers: TypedArrayConstructor,
  { kind }: FixedDataType,
): Uint8Array<ArrayBuffer> {
  const isBig = Numbers === BigInt64Array || Numbers === BigUint64Array;
  const typed = new Numbers(values.length);
  let i = 0;
  for (const value of values) {
    const number = kind === "bool" && typeof value === "boolean" ? Number(value) : value;
    if (kind === "bool" && typeof value !== "boolean") throw noValue(value, i, kind);
    if (typeof number !== "number" && typeof number !== "bigint") throw noValue(value, i, kind);
    const isFractional = typeof number === "number" && !Number.isInteger(number);
    if (isFractional && kind !== "float") throw noValue(value, i, kind);
    typed[i] = isBig ? BigInt(number) : Number(number);
    if (kind !== "float" && BigInt(typed[i] ?? 0) !== BigInt(number)) throw noValue(value, i, kind);
    i++;
  }
  return new Uint8Array(typed.buffer);
}

/** Packs single values of other fixed-size types in C order. */
function packedItems(values: Values, place: ValuesPlace, itemSize: number): FixedData {
  const { dataType, shape } = place;
  const bytes = new Uint8Array(product(shape) * itemSize);
  let at = 0;
  for (const value of inOrder(values, place)) {
    bytes.set(encodedItem(value, dataType), at);
    at += itemSize;
  }
  return { kind: "fixed", bytes, itemSize, shape, strides: cStrides(shape) };
}

function variableData(values: Values, place: ValuesPlace): VariableData {
  const { dataType, shape } = place;
  const items = Array.from(inOrder(values, place), (value) => encodedItem(value, dataType));
  return packItems(items, shape, plainBuffers);
}

/** Iterates over the values of the box in C order. */
function* inOrder(values: Values, place: ValuesPlace): Generator<unknown> {
  if (ArrayBuffer.isView(values)) throw otherType(values, place.dataType);
  const strides = checkedStrides(values.length, place);
  for (const coords of coordsOf(place.shape)) {
    yield values.at(coords.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), 0));
  }
}

/**
 * Returns strides that stay within `items`. Without a given stride, there must be exactly as many items as in the box.
 */
function checkedStrides(items: number, { shape, stride }: ValuesPlace): readonly number[] {
  const last = stride && shape.reduce((sum, n, d) => sum + Math.max(0, n - 1) * (stride[d] ?? 0), 0);
  const wanted = product(shape) === 0 ? 0 : last === undefined ? product(shape) : last + 1;
  const fits = stride
    ? stride.length === shape.length && stride.every((n) => n >= 0) && items >= wanted
    : items === wanted;
  if (fits) return stride ?? cStrides(shape);
  throw new ZarrflowError(
    "invalid-option",
    "the number of values differs from the number of items in the region",
    {
      expected: `${wanted} items for ${shape.join(" x ") || "a scalar"}`,
      found: `${items}`,
    },
  );
}

function noValue(value: unknown, index: number, kind: string): ZarrflowError {
  return new ZarrflowError("invalid-option", `value ${index} does not have the array's data type`, {
    value: String(value),
    expected: kind,
  });
}

/**
 * Encodes a JavaScript value as little-endian bytes, for which `slice` returns the same value.
 *
 * @throws `invalid-option` if it is not a value of the data type.
 */
export function encodedItem(value: unknown, dataType: DataType): Uint8Array {
  try {
    const bytes = encode(value, dataType);
    if (bytes) return bytes;
  } catch (error) {
    if (!isZarrflowError(error, "invalid-metadata")) throw error;
    throw new ZarrflowError("invalid-option", `a value of the data type ${error.reason}`, { value });
  }
  throw new ZarrflowError("invalid-option", "this is not a value of the array's data type", {
    value,
    expected: dataType.kind,
  });
}

function encode(value: unknown, dataType: DataType): Uint8Array | undefined {
  switch (dataType.kind) {
    case "bool":
      return typeof value === "boolean" ? numberBytes(Number(value), numberKindOf(dataType)) : undefined;
    case "int":
    case "uint":
    case "datetime":
    case "timedelta":
      return integer(value, numberKindOf(dataType));
    case "float":
      return typeof value === "number" ? numberBytes(value, numberKindOf(dataType)) : undefined;
    case "complex":
      return complex(value, numberKindOf(dataType));
    case "fixed-text":
      return typeof value === "string" ? parseTextFill(value, dataType.size, "") : undefined;
    case "fixed-bytes":
      return value instanceof Uint8Array ? padBytes(value, dataType.size, "") : undefined;
    case "raw":
      return value instanceof Uint8Array && value.length === dataType.size ? value : undefined;
    case "struct":
      return fields(value, dataType.fields);
    case "string":
      return typeof value === "string" ? parseStringFill(value, "") : undefined;
    case "binary":
      return value instanceof Uint8Array ? value : undefined;
    case "object":
      return new TextEncoder().encode(writeJson(fromPlain(value), { nonFinite: "token" }));
  }
}

function integer(value: unknown, kind: NumberKind): Uint8Array | undefined {
  const isInteger = typeof value === "bigint" || Number.isInteger(value);
  return isInteger ? integerBytes(BigInt(value as number | bigint), kind) : undefined;
}

function complex(value: unknown, kind: NumberKind): Uint8Array | undefined {
  const isPair = Array.isArray(value) && value.length === 2 && value.every((n) => typeof n === "number");
  return isPair ? joinBytes(value.map((part: number) => numberBytes(part, kind))) : undefined;
}

/** Encodes an object with a value for every named field as a structure; padding is zero. */
function fields(value: unknown, all: readonly Field[]): Uint8Array | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const parts = all.map((field) => {
    const { name, dataType } = field;
    if (name === "") return new Uint8Array(isFixed(dataType) ? dataType.size * fieldItems(field) : 0);
    const item: unknown = Object.hasOwn(value, name) ? value[name as keyof typeof value] : undefined;
    return field.shape ? subarray(item, field) : encodedItem(item, dataType);
  });
  return joinBytes(parts);
}

function subarray(values: unknown, field: Field): Uint8Array {
  if (!Array.isArray(values) || values.length !== fieldItems(field)) {
    throw new ZarrflowError(
      "invalid-option",
      `the field \`${field.name}\` needs all values of its subarray`,
      {
        expected: `${fieldItems(field)} values`,
      },
    );
  }
  return joinBytes(values.map((value) => encodedItem(value, field.dataType)));
}

/** A box of an array with its values, as `slice(...).chunks()` returns and `ArrayWriter.writable` takes. */
export interface ArrayPart<Name extends DataTypeName = DataTypeName> {
  readonly region: Region;
  readonly data: Values<Name>;
  /** Distance in `data`, in items, between neighbors along each dimension; C order without gaps by default. */
  readonly stride?: readonly number[] | undefined;
}

interface PartWriter {
  /** @param onTaken called when the part's values are no longer needed */
  writePart(part: ArrayPart | DecodedChunk, onTaken: () => void): Promise<void>;
  close(): Promise<void>;
  abort(reason: unknown): Promise<void>;
}

interface Entry {
  readonly part: ArrayPart | DecodedChunk;
  readonly onTaken: () => void;
}

/**
 * Creates a stream that takes parts in order and lets up to `concurrency` of them be stored at a time. Closing or
 * aborting it closes or aborts the writer.
 */
export function partsInto(writer: PartWriter, concurrency: number): WritableStream<ArrayPart | DecodedChunk> {
  const write = async ({ part, onTaken }: Entry) => {
    try {
      await writer.writePart(part, onTaken);
    } finally {
      onTaken();
    }
  };
  const { readable, writable } = mapConcurrent(write, { concurrency });
  // The writing side reports failures.
  readable.pipeTo(new WritableStream()).catch(() => {});
  const parts = writable.getWriter();
  const failure = parts.closed.catch((error: unknown) => error);
  const orGiveUp = async (step: Promise<void>): Promise<void> => {
    try {
      await step;
    } catch {
      // Closing a failed stream rejects with another error.
      const error = await failure;
      await writer.abort(error);
      throw error;
    }
  };
  /** Rejects the wait for the current part when the stream fails. */
  let stopWaiting = (_error: unknown) => {};
  failure.then((error) => stopWaiting(error));
  return new WritableStream<ArrayPart | DecodedChunk>({
    async write(part) {
      const taken = new Promise<void>((resolve, reject) => {
        stopWaiting = reject;
        parts.write({ part, onTaken: resolve }).catch(reject);
      });
      await orGiveUp(taken);
    },
    async close() {
      await orGiveUp(parts.close());
      await writer.close();
    },
    async abort(reason) {
      await Promise.all([parts.abort(reason), writer.abort(reason)]);
    },
  });
}

/**
 * True if a part is a decoded chunk from the stages of `zarrflow/streams`: its data have the layout of its codecs, or
 * it has no data.
 */
export function isDecoded(part: ArrayPart | DecodedChunk): part is DecodedChunk {
  return part.data === undefined || "kind" in part.data;
}
