import { type Endian, type FixedDataType, isFixed } from "../../../meta/data-type.ts";
import { fieldItems, swapUnit } from "../../../meta/element-order.ts";
import { kernels } from "../../kernels/kernels.ts";
import { swapBytes } from "../../kernels/swap-bytes.ts";
import { wordsOf } from "../../kernels/words.ts";

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
  const words = wordsOf(bytes);
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
