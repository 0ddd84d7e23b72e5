import { type Endian, type FixedDataType, isFixed } from "../../../meta/data-type.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { cStrides, product } from "../../../util/shape.ts";
import type { ArrayToBytesCodec, CodecFactory } from "../../codec.ts";
import { ConfigReader } from "../../config-reader.ts";
import { corrupt } from "../../failures.ts";
import { bigEndianRuns, needsEndian, swapRuns } from "./byte-order.ts";

/**
 * `bytes`: items as in memory, in the stated byte order. Decoded data are little-endian. Both directions work in place:
 * they swap big-endian items and leave other bytes unchanged. Decoded booleans are 0 or 1.
 */
export const createBytes: CodecFactory = (configuration, { spec }) => {
  const { dataType, shape } = spec;
  if (!isFixed(dataType)) {
    throw new ZarrflowError("invalid-metadata", `\`bytes\` cannot hold items of type ${dataType.kind}`, {
      hint: "Strings and bytes of varying length need `vlen-utf8` or `vlen-bytes`.",
    });
  }
  const itemSize = dataType.size;
  const size = product(shape) * itemSize;
  const runs = bigEndianRuns(dataType, endianOf(new ConfigReader(configuration), dataType));
  const decodeItems = (bytes: Uint8Array) => {
    if (dataType.kind === "bool") normaliseBooleans(bytes);
    swapRuns(bytes, itemSize, runs);
  };
  return {
    kind: "array-to-bytes",
    name: "bytes",
    encodedSize: size,
    encodedDataType: dataType,
    decodeItems,
    statedItems: (bytes) => Math.floor(bytes.length / itemSize),
    decode(bytes) {
      if (bytes.length !== size) {
        throw corrupt("the length of the chunk differs from its shape and data type", {
          expected: size,
          found: bytes.length,
        });
      }
      decodeItems(bytes);
      return { kind: "fixed", bytes, itemSize, shape, strides: cStrides(shape) };
    },
    encode(data) {
      if (data.kind !== "fixed" || data.bytes.length !== size) {
        throw new ZarrflowError("codec-error", "the data are not a complete chunk of items of fixed size", {
          expected: size,
          found: data.bytes.length,
        });
      }
      swapRuns(data.bytes, itemSize, runs);
      return data.bytes;
    },
  } satisfies ArrayToBytesCodec;
};

/** Sets all nonzero bytes to 1. */
function normaliseBooleans(bytes: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) if ((bytes[i] ?? 0) > 1) bytes[i] = 1;
}

function endianOf(settings: ConfigReader, dataType: FixedDataType): Endian {
  if (settings.value("endian") === undefined && !needsEndian(dataType)) return "little";
  return settings.word("endian", ["little", "big"]);
}
