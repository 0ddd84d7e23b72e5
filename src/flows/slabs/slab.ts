import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { Region } from "../../streams/chunk.ts";
import { coordsAt, cStrides, product } from "../../util/shape.ts";

/**
 * A slab of a selection, or a part of one. `data` is in C order without gaps, and valid until the next one is
 * requested.
 */
export interface Slab {
  /** In coordinates of the selection's result. */
  readonly region: Region;
  readonly data: ChunkData;
}

/** Splits the items of a slab from `from` up to `to`, in C order, into boxes without gaps. */
export function* slabParts(slab: Slab, from: number, to = product(slab.region.shape)): Generator<Slab> {
  const { data, region } = slab;
  const { shape } = region;
  if (data.kind === "variable" || (from === 0 && to === product(shape))) {
    yield slab;
    return;
  }
  const sizes = cStrides(shape);
  for (let at = from; at < to; ) {
    const coords = coordsAt(at, shape);
    // the outermost dimension with complete steps
    const along = sizes.findIndex((size) => at % size === 0 && at + size <= to);
    const size = sizes[along] ?? 1;
    const count = Math.min(Math.floor((to - at) / size), (shape[along] ?? 1) - (coords[along] ?? 0));
    const part = shape.map((n, d) => (d < along ? 1 : d === along ? count : n));
    const end = at + count * size;
    yield {
      region: { start: coords.map((c, d) => c + (region.start[d] ?? 0)), shape: part },
      data: {
        ...data,
        bytes: data.bytes.subarray(at * data.itemSize, end * data.itemSize),
        shape: part,
        strides: cStrides(part),
      },
    };
    at = end;
  }
}
