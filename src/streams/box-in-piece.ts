import type { BoxLayout } from "../codecs/kernels/copy-box.ts";
import type { ChunkRef, Region } from "./chunk.ts";
import type { Selection } from "./selection.ts";

/** Where the items that become `region` of the target lie in a source piece with `strides`. */
export function boxInPiece(
  piece: ChunkRef,
  strides: readonly number[],
  region: Region,
  selection: Selection,
): BoxLayout {
  let offset = 0;
  const stepped = strides.map((stride, d) => {
    const step = selection.step[d] ?? 1;
    const item = (selection.start[d] ?? 0) + step * (region.start[d] ?? 0) - (piece.region.start[d] ?? 0);
    offset += item * stride;
    return stride * step;
  });
  return { offset, strides: stepped };
}
