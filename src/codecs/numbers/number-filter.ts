import { ZarrflowError } from "../../util/errors.ts";
import type { BytesToBytesCodec } from "../codec.ts";
import { corrupt, overrun } from "../failures.ts";
import { type BigArray, type NumberArray, readNumbers, writeNumbers } from "./number-array.ts";
import { dataTypeOf, type NumberType } from "./number-type.ts";

/** Computes one array of numbers from another of the same length. */
type Compute = (from: NumberArray | BigArray, to: NumberArray | BigArray) => void;

/** A filter that turns each number of one type into one of another. */
export interface NumberFilter {
  readonly name: string;
  /** Type of the numbers before encoding. */
  readonly decoded: NumberType;
  /** Type of the numbers as they are stored. */
  readonly stored: NumberType;
  readonly encode: Compute;
  readonly decode: Compute;
}

/** The codec of a filter over numbers; sizes follow from the two types. */
export function numberFilter({ name, decoded, stored, encode, decode }: NumberFilter): BytesToBytesCodec {
  const encodedSize = (decodedSize: number) => Math.floor(decodedSize / decoded.size) * stored.size;
  return {
    kind: "bytes-to-bytes",
    name,
    encodedDataType: dataTypeOf(stored),
    maxEncodedSize: encodedSize,
    fixedEncodedSize: encodedSize,
    statedDecodedSize: (source) => Math.floor(source.length / stored.size) * decoded.size,
    // Numbers of another byte order, unaligned or of 16 bits are worked on in copies.
    scratchSize: (decodedSize) => 5 * (decodedSize + encodedSize(decodedSize)),
    encodeInto(source, target) {
      const items = wholeItems(source, decoded);
      if (items === undefined) {
        throw new ZarrflowError(
          "codec-error",
          `${source.length} bytes are not whole items of ${decoded.size}`,
        );
      }
      writeNumbers(target, stored, items, (to) => encode(readNumbers(source, decoded), to));
      return items * stored.size;
    },
    decodeInto(source, target) {
      const items = wholeItems(source, stored);
      if (items === undefined) {
        throw corrupt(`${source.length} bytes are not whole items of ${stored.size}`);
      }
      if (items * decoded.size > target.length) throw overrun(target.length);
      writeNumbers(target, decoded, items, (to) => decode(readNumbers(source, stored), to));
      return items * decoded.size;
    },
  };
}

function wholeItems(bytes: Uint8Array, { size }: NumberType): number | undefined {
  return bytes.length % size === 0 ? bytes.length / size : undefined;
}
