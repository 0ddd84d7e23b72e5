import { isFixed } from "../meta/data-type.ts";
import type { CodecPipeline } from "./codec.ts";

/** The most bytes of one chunk, between any two codecs. */
export const MAX_CHUNK_SIZE = 2 ** 31 - 1;

/** The most bytes accepted from other encoders, which may write more frames or padding than our limit, `ours`. */
export function foreignSizeBound(ours: number): number {
  return Math.min(2 * ours + 65_536, MAX_CHUNK_SIZE);
}

/** The most bytes of a stored chunk that the codecs decode, whoever wrote it. */
export function maxStoredSize({
  spec,
  maxEncodedSize,
}: Pick<CodecPipeline, "spec" | "maxEncodedSize">): number {
  // The size of variable data is not known in advance.
  return isFixed(spec.dataType) ? foreignSizeBound(maxEncodedSize) : MAX_CHUNK_SIZE;
}
