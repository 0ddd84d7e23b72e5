import type { VariableData } from "../chunk-data.ts";
import { corrupt } from "../failures.ts";
import { isContinuation, isUtf8 } from "../kernels/utf8.ts";

/** Holds that each item is UTF-8 by itself. @throws `corrupt-chunk` naming the first that is not. */
export function assertStrings({ bytes, offsets }: VariableData): void {
  const items = offsets.length - 1;
  // Whole characters end to end, and no item begins within one.
  if (isUtf8(bytes, 0, bytes.length) && offsets.every((start) => !isContinuation(bytes[start] ?? 0))) return;
  for (let i = 0; i < items; i++) {
    if (!isUtf8(bytes, offsets[i] ?? 0, offsets[i + 1] ?? 0)) throw corrupt(`item ${i} is not valid UTF-8`);
  }
}
