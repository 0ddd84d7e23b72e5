import { type Endian, type FixedDataType, fieldItems, isFixed, swapUnit } from "../../meta/data-type.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { cStrides, product } from "../../util/shape.ts";
import type { ArrayToBytesCodec, CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { kernels } from "../kernels/kernels.ts";
import { swapBytes, wordView } from "../kernels/swap-bytes.ts";
import { corrupt } from "../limits.ts";

/**
 * `bytes`: items as in memory, in the stated byte order. Decoded data are little-endian. Both directions work in place:
 * they swap big-endian items and leave other bytes unchanged. Decoded booleans are 0 or 1.
 */
export const createBytes: CodecFactory = (configuration, { spec }) => {
  const { dataType, shape } = spec;
  if (!isFixed(dataType)) {
    throw new ZarrflowError("invalid-metadata", `\`bytes\` cannot hold items of type ${dataType.kind}`, {
      hint: "Variable-length strings and bytes require `vlen-utf8` or `vlen-bytes`.",
    });
  }
  const itemSize = dataType.size;
  const size = product(shape) * itemSize;
  const runs = bigEndianRuns(dataType, endianOf(new ConfigReader(configuration), dataType));
  const decodeItems = (bytes: Uint8Array) => {
    if (dataType.kind === "bool") normalizeBooleans(bytes);
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
        throw corrupt("the length of the chunk does not match its shape and data type", {
          expected: size,
          found: bytes.length,
        });
      }
      decodeItems(bytes);
      return { kind: "fixed", bytes, itemSize, shape, strides: cStrides(shape) };
    },
    encode(data) {
      if (data.kind !== "fixed" || data.bytes.length !== size) {
        throw new ZarrflowError("codec-error", "the data is not a complete chunk of fixed-size items", {
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
function normalizeBooleans(bytes: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) if ((bytes[i] ?? 0) > 1) bytes[i] = 1;
}

function endianOf(settings: ConfigReader, dataType: FixedDataType): Endian {
  if (settings.value("endian") === undefined && !needsEndian(dataType)) return "little";
  return settings.word("endian", ["little", "big"]);
}

/** Numbers within each item whose bytes must be reversed. */
interface Run {
  /** Offset in the item. */
  readonly offset: number;
  /** Bytes of all numbers of the run. */
  readonly length: number;
  /** Bytes of one number. */
  readonly unit: number;
}

/**
 * The parts of an item that are stored big-endian: the whole item or some of its fields. The byte order of a field
 * overrides the order of the type around it.
 */
export function bigEndianRuns(dataType: FixedDataType, endian: Endian): readonly Run[] {
  const runs: Run[] = [];
  collect(runs, dataType, endian, 0);
  return runs;
}

function collect(runs: Run[], dataType: FixedDataType, endian: Endian, start: number): void {
  if (dataType.kind !== "struct") {
    const unit = swapUnit(dataType);
    if (endian === "little" || unit === 1) return;
    const last = runs.at(-1);
    if (last && last.unit === unit && last.offset + last.length === start) {
      runs[runs.length - 1] = { ...last, length: last.length + dataType.size };
    } else runs.push({ offset: start, length: dataType.size, unit });
    return;
  }
  let offset = start;
  for (const field of dataType.fields) {
    if (!isFixed(field.dataType)) continue;
    for (let item = fieldItems(field); item > 0; item--, offset += field.dataType.size) {
      collect(runs, field.dataType, field.endian ?? endian, offset);
    }
  }
}

/** Reverses the bytes of the runs in every item, in place. */
export function swapRuns(bytes: Uint8Array, itemSize: number, runs: readonly Run[]): void {
  const [first] = runs;
  if (first === undefined) return;
  if (first.length === itemSize) {
    kernels().swapBytes(bytes, first.unit);
    return;
  }
  const words = wordView(bytes);
  for (let start = 0; start < bytes.length; start += itemSize) {
    for (const { offset, length, unit } of runs) {
      swapBytes(words, start + offset, start + offset + length, unit);
    }
  }
}

/** True if the codec must state a byte order: some part of the type has one and does not state it itself. */
export function needsEndian(dataType: FixedDataType): boolean {
  if (dataType.kind !== "struct") return swapUnit(dataType) > 1;
  return dataType.fields.some(
    (field) => field.endian === undefined && isFixed(field.dataType) && needsEndian(field.dataType),
  );
}
