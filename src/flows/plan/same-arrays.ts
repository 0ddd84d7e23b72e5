import type { CodecPipeline } from "../../codecs/codec.ts";
import type { ArrayMetadata, CodecConfig } from "../../meta/array-metadata.ts";
import { sameDataType, sameFieldOrders } from "../../meta/same-data-type.ts";
import type { Selection } from "../../streams/selection.ts";
import { jsonEqual } from "../../util/json-equal.ts";

/** Returns the reason why chunks of the arrays do not match; undefined if they do. */
export function whyNotSameGrid(
  from: ArrayMetadata,
  to: ArrayMetadata,
  selection: Selection,
): string | undefined {
  if (
    selection.start.some((n) => n !== 0) ||
    selection.step.some((n) => n !== 1) ||
    !same(selection.shape, from.shape)
  ) {
    return "only a part of the array is selected";
  }
  if (selection.shift) return "values are shifted";
  const { chunkShape, innerChunkShape = [] } = from.chunkGrid;
  if (!same(chunkShape, to.chunkGrid.chunkShape)) return "the chunk shapes differ";
  if (!same(innerChunkShape, to.chunkGrid.innerChunkShape ?? [])) return "the inner chunk shapes differ";
  return undefined;
}

/** Returns the reason why stored bytes do not mean the same in both arrays; undefined if they do. */
export function whyNotSameCoding(from: ArrayMetadata, to: ArrayMetadata): string | undefined {
  if (!sameDataType(from.dataType, to.dataType)) return "the data types differ";
  if (!sameFieldOrders(from.dataType, to.dataType)) return "the byte orders of fields differ";
  const bare = (codecs: readonly CodecConfig[]) =>
    codecs.map(({ name, configuration }) => [name, configuration]);
  return jsonEqual(bare(from.codecs), bare(to.codecs)) ? undefined : "the codecs differ";
}

/** Returns the reason why missing chunks do not mean the same in both arrays; undefined if they do. */
export function whyNotSameFill(from: ArrayMetadata, to: ArrayMetadata): string | undefined {
  const isSame = same(from.fillValue.bytes ?? [], to.fillValue.bytes ?? []);
  return isSame ? undefined : "the fill values differ";
}

/** Returns the reason why decoded chunks of one array cannot be encoded by the other; undefined if they can. */
export function whyNotSameLayout(from: CodecPipeline, to: CodecPipeline): string | undefined {
  return same(from.strides, to.strides) ? undefined : "the order of items within chunks differs";
}

function same(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  return a.length === b.length && Array.prototype.every.call(a, (n, i) => n === b[i]);
}
