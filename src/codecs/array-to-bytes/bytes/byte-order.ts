import { type Endian, type FixedDataType, isFixed } from "../../../meta/data-type.ts";
import { fieldItems, swapUnit } from "../../../meta/element-order.ts";
import { kernels } from "../../kernels/kernels.ts";
import { swapBytes } from "../../kernels/swap-bytes.ts";
import { wordsOf } from "../../kernels/words.ts";

/** Numbers within each item whose bytes are to be reversed. */
interface Run {
  /** Where in the item they begin. */
  readonly offset: number;
  /** Bytes of them all. */
  readonly length: number;
  /** Bytes of one. */
  readonly unit: number;
}

/**
 * The parts of an item that are stored big-endian: all of it, or single fields. A field's own byte order wins over
 * that around it.
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

/** Reverses the runs of every item of `bytes`, in place. */
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

/** Whether the codec has to state a byte order: something in the type has one and does not state it itself. */
export function needsEndian(dataType: FixedDataType): boolean {
  if (dataType.kind !== "struct") return swapUnit(dataType) > 1;
  return dataType.fields.some(
    (field) => field.endian === undefined && isFixed(field.dataType) && needsEndian(field.dataType),
  );
}
