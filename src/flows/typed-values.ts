import type { ChunkData } from "../codecs/chunk-data.ts";
import type { DataType } from "../meta/data-type.ts";
import { typedArrayOf } from "../meta/typed-array.ts";
import { fromFloat16Bits } from "../util/float16.ts";
import { itemValue } from "./item-value.ts";

/**
 * Items as JavaScript holds them best: numbers in the typed array of their size (bool as 0 and 1, float16 as
 * float32, 64-bit integers and datetimes as bigint, complex as two numbers an item), all else as `ItemValues`.
 */
export type TypedValues =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigUint64Array
  | BigInt64Array
  | Float32Array
  | Float64Array
  | ItemValues;

/** Items that no typed array holds (text, bytes, structures, objects); each value is made when it is asked for. */
export class ItemValues {
  readonly length: number;
  readonly #at: (index: number) => unknown;

  constructor(length: number, at: (index: number) => unknown) {
    this.length = length;
    this.#at = at;
  }

  at(index: number): unknown {
    return this.#at(index);
  }

  subarray(begin: number): ItemValues {
    return new ItemValues(this.length - begin, (index) => this.#at(begin + index));
  }

  *[Symbol.iterator](): Generator<unknown> {
    for (let i = 0; i < this.length; i++) yield this.#at(i);
  }
}

/** A chunk's items, in the order in which they lie; a typed array shares the chunk's memory where it can. */
export function typedValues(data: ChunkData, dataType: DataType): TypedValues {
  if (data.kind === "variable") {
    const { bytes, offsets } = data;
    return new ItemValues(offsets.length - 1, (i) => {
      const start = offsets[i] ?? 0;
      return itemValue(
        dataType,
        new DataView(bytes.buffer, bytes.byteOffset + start, (offsets[i + 1] ?? 0) - start),
      );
    });
  }
  const { bytes, itemSize } = data;
  const Numbers = typedArrayOf(dataType);
  if (Numbers) {
    const aligned = bytes.byteOffset % Numbers.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
    return new Numbers(
      aligned.buffer as ArrayBuffer,
      aligned.byteOffset,
      bytes.length / Numbers.BYTES_PER_ELEMENT,
    );
  }
  if (dataType.kind === "float") {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return Float32Array.from({ length: bytes.length / 2 }, (_, i) =>
      fromFloat16Bits(view.getUint16(2 * i, true)),
    );
  }
  return new ItemValues(bytes.length / itemSize, (i) =>
    itemValue(dataType, new DataView(bytes.buffer, bytes.byteOffset + i * itemSize, itemSize)),
  );
}
