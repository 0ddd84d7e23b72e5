import type { BytesToBytesCodec } from "../codec.ts";
import { overrun } from "../failures.ts";
import { itemsToDecode, itemsToEncode } from "../item-count.ts";
import { type BigArray, copySize, type NumberArray, readNumbers, writeNumbers } from "./number-array.ts";
import { dataTypeOf, type NumberType } from "./number-type.ts";

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
