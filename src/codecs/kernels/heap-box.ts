import type { BoxLayout } from "./copy-box.ts";
import type { HeapBox } from "./kernel-types.ts";
import { kernels } from "./kernels.ts";

/**
 * Describes the items of a region of an array in a buffer, for a kernel that copies to many boxes in one call.
 *
 * @param layout layout of the region; `offset` is the position of its first item.
 * @returns undefined if no kernel supports this buffer, or if strides increase from one dimension to the next.
 *   Transposing such rows to columns has a faster method.
 */
export function heapBox(
  bytes: Uint8Array,
  region: { readonly start: readonly number[]; readonly shape: readonly number[] },
  { offset, strides }: BoxLayout,
  itemSize: number,
): HeapBox | undefined {
  if (itemSize === 0 || !kernels().heapBoxes.holds(bytes)) return undefined;
  const rank = strides.length;
  const box = new Float64Array(1 + 3 * rank);
  box[0] = bytes.byteOffset + offset * itemSize;
  let outer = Number.POSITIVE_INFINITY;
  for (let d = 0; d < rank; d++) {
    const stride = strides[d] ?? 0;
    const start = region.start[d] ?? 0;
    if (stride > outer) return undefined;
    outer = stride;
    box[3 * d + 1] = start;
    box[3 * d + 2] = start + (region.shape[d] ?? 0);
    box[3 * d + 3] = stride * itemSize;
  }
  return box;
}

/** Copies the items that `source` shares with each of `targets`, which are consecutive boxes of the same rank. */
export function copyShared(source: HeapBox, targets: HeapBox, itemSize: number): void {
  kernels().heapBoxes.copyShared(source, targets, itemSize);
}
