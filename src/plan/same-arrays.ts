import type { CodecPipeline } from "../codecs/codec.ts";
import type { ArrayMetadata, CodecConfig } from "../meta/array-metadata.ts";
import { sameDataType, sameFieldOrders } from "../meta/data-type.ts";
import type { Selection } from "../streams/selection.ts";
import { ZarrflowError } from "../util/errors.ts";
import { jsonEqual } from "../util/json-value.ts";

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

/** Maximum number of chunks of one array that a run reads or writes. */
const MAX_CHUNKS = 2 ** 31;

/** Counts of a run, including missing chunks. */
interface Counted {
  /** Items of the selected part. */
  readonly items: number;
  /** Chunks read or written, including repeated reads. */
  readonly chunks: number;
}

/**
 * Asserts that a run over all items of an array can finish. Malicious and sparse arrays may state shapes that can
 * be read only in part.
 *
 * @throws `resource-limit`
 */
export function assertCountable({ items, chunks }: Counted, path: string): void {
  const isCountable = items <= Number.MAX_SAFE_INTEGER && chunks <= MAX_CHUNKS;
  if (isCountable) return;
  throw new ZarrflowError("resource-limit", "the run has more chunks or items than can be counted", {
    path,
    expected: `at most ${MAX_CHUNKS} chunks and ${Number.MAX_SAFE_INTEGER} items`,
    found: `${chunks} chunks, ${items} items`,
    hint: "Process a slice of it.",
  });
}
