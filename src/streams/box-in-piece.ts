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
  const stepped = new Array<number>(strides.length);
  let offset = 0;
  for (let d = 0; d < strides.length; d++) {
    const stride = strides[d] ?? 0;
    const step = selection.step[d] ?? 1;
    const item = (selection.start[d] ?? 0) + step * (region.start[d] ?? 0) - (piece.region.start[d] ?? 0);
    offset += item * stride;
    stepped[d] = stride * step;
  }
  return { offset, strides: stepped };
}
