import { ZarrflowError } from "../../../util/errors.ts";
import { cStrides, product } from "../../../util/shape.ts";
import type { ChunkSpec } from "../../codec.ts";
import { fillItems } from "../../filled-data.ts";
import { copyBox } from "../../kernels/copy-box.ts";
import type { ShardBoxes } from "./boxes.ts";

interface ItemLayout {
  /** Strides of an inner chunk, in items. */
  readonly strides: readonly number[];
  readonly itemSize: number;
}

/** Boxes for items of fixed size: the shard is one buffer, copied by strides. */
export function fixedBoxes(
  { shape, fillValue }: ChunkSpec,
  chunkShape: readonly number[],
  { strides, itemSize }: ItemLayout,
): ShardBoxes {
  const shardStrides = cStrides(shape);
  const boxAt = (coords: readonly number[]) => ({
    offset: coords.reduce((sum, c, d) => sum + c * (chunkShape[d] ?? 1) * (shardStrides[d] ?? 0), 0),
    strides: shardStrides,
  });
  const chunkSize = product(chunkShape) * itemSize;
  return {
    cut(data, coords, buffers) {
      const bytes = buffers.take(chunkSize);
      copyBox(data.bytes, boxAt(coords), bytes, { offset: 0, strides }, chunkShape, itemSize);
      return { kind: "fixed", bytes, itemSize, shape: chunkShape, strides };
    },
    begin(buffers) {
      const bytes = buffers.take(product(shape) * itemSize);
      fillItems(bytes, fillValue);
      return {
        add(data, coords) {
          if (data.kind !== "fixed")
            throw new ZarrflowError("codec-error", "an inner chunk has no fixed items");
          const from = { offset: 0, strides: data.strides };
          copyBox(data.bytes, from, bytes, boxAt(coords), chunkShape, itemSize);
          buffers.give(data.bytes);
        },
        finish: () => ({ kind: "fixed", bytes, itemSize, shape, strides: shardStrides }),
        discard: () => buffers.give(bytes),
      };
    },
  };
}
