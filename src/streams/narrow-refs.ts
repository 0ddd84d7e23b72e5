import type { CodecPipeline } from "../codecs/codec.ts";
import type { ChunkRef } from "./chunk.ts";
import { intersect, itemAt, type Selection, selectedRegions } from "./selection.ts";

/** Yields the same chunks, narrowed to the part with the selected items if the codecs can decode parts of a chunk. */
export function* narrowRefs(
  refs: Iterable<ChunkRef>,
  selection: Selection,
  { partOf }: Pick<CodecPipeline, "partOf">,
): Generator<ChunkRef> {
  if (partOf === undefined) {
    yield* refs;
    return;
  }
  for (const ref of refs) {
    const { start } = ref.region;
    const [selected, other] = selectedRegions(selection, ref.region);
    const part = selected && !other && partOf(boxOf(selection, selected, start));
    const region =
      part &&
      intersect(
        { start: start.map((from, d) => from + (part.start[d] ?? 0)), shape: part.shape },
        ref.region,
      );
    yield part && region ? { ...ref, region, part } : ref;
  }
}

/** The smallest box with all selected items of a chunk, relative to its `first` item. */
function boxOf(selection: Selection, selected: ChunkRef["region"], first: readonly number[]) {
  return {
    start: selected.start.map((at, d) => itemAt(selection, d, at) - (first[d] ?? 0)),
    shape: selected.shape.map((count, d) => (selection.step[d] ?? 1) * (count - 1) + 1),
  };
}
