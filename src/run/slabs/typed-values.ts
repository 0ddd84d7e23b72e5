import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { DataType } from "../../meta/data-type.ts";
import type { BytesName, DataTypeName, StructName, TextName, TimeName } from "../../meta/data-type-name.ts";
import { type NumberArrays, type Numbers, numberKindOf } from "../../meta/number-kinds.ts";
import { readSmallFloats } from "../../util/small-floats.ts";
import { itemReader } from "./item-value.ts";
import { numbersOfChunk } from "./numbers-in.ts";

/**
 * Items in their most suitable JavaScript form: numbers in the typed array of their size (bool as 0 and 1, floats of 16
 * bits as float32, 64-bit integers and datetimes as bigints, complex as two numbers per item), all others as `ItemValues`.
 */
export type TypedValues = Numbers | ItemValues;

/**
 * Containers of items by type. Not a conditional type, so that an array of one type is assignable to an array of any
 * type.
 */
type ValuesByName = NumberArrays &
  Readonly<Record<TimeName, BigInt64Array>> &
  Readonly<Record<TextName, ItemValues<string>>> &
  Readonly<Record<BytesName, ItemValues<Uint8Array>>> &
  Readonly<Record<StructName, ItemValues<Readonly<Record<string, unknown>>>>> & {
    readonly object: ItemValues;
  };

/** Container of items of a type, given its name; of any type without a name. */
export type ValuesOf<Name extends DataTypeName = DataTypeName> = ValuesByName[Name];

const INDEX = /^(?:0|[1-9][0-9]*)$/;

/**
 * Items without a typed array (text, bytes, structures, objects), accessed by index as in an array. Each value is
 * decoded on access.
 */
export class ItemValues<T = unknown> {
  readonly [index: number]: T;
  readonly length: number;
  /** The item at `index`; negative indices count from the end. */
  readonly at: (index: number) => T | undefined;
  /** The items from `start` on. */
  readonly subarray: (start: number) => ItemValues<T>;

  constructor(length: number, itemAt: (index: number) => T) {
    this.length = length;
    this.at = (index) => {
      const i = index < 0 ? length + index : index;
      return i >= 0 && i < length ? itemAt(i) : undefined;
    };
    this.subarray = (start) => new ItemValues(length - start, (index) => itemAt(start + index));
    // biome-ignore lint/correctness/noConstructorReturn: an index is no property, but looks like one
    return new Proxy(this, {
      get: (values, name) =>
        typeof name === "string" && INDEX.test(name) ? values.at(Number(name)) : Reflect.get(values, name),
    });
  }

  *[Symbol.iterator](): Generator<T> {
    for (let i = 0; i < this.length; i++) yield this.at(i) as T;
  }
}

/** The items of a chunk in stored order. A typed array shares the chunk's memory if possible. */
export function typedValues(data: ChunkData, dataType: DataType): TypedValues {
  if (data.kind === "variable") {
    const { bytes, offsets } = data;
    const read = itemReader(dataType);
    return new ItemValues(offsets.length - 1, (i) => {
      const start = offsets[i] ?? 0;
      return read(new DataView(bytes.buffer, bytes.byteOffset + start, (offsets[i + 1] ?? 0) - start));
    });
  }
  const { bytes, itemSize } = data;
  const { bits } = numberKindOf(dataType) ?? {};
  const numbers = bits ? readSmallFloats(bytes, bits) : numbersOfChunk(data, dataType);
  if (numbers) return numbers;
  const read = itemReader(dataType);
  return new ItemValues(bytes.length / itemSize, (i) =>
    read(new DataView(bytes.buffer, bytes.byteOffset + i * itemSize, itemSize)),
  );
}
