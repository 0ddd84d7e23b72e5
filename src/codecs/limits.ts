import { isFixed } from "../meta/data-type.ts";
import type { CodecPipeline } from "./codec.ts";

/** The most bytes that one chunk may have, at any place of its chain. */
export const MAX_CHUNK_SIZE = 2 ** 31 - 1;

/**
 * The most bytes that are taken from encoders other than ours, which may write more frames or padding, where ours give
 * no more than `ours`.
 */
export function foreignSizeBound(ours: number): number {
  return Math.min(2 * ours + 65_536, MAX_CHUNK_SIZE);
}

/** The most bytes that a stored chunk can have, whoever wrote it, for the codecs to decode it. */
export function maxStoredSize({
  spec,
  maxEncodedSize,
}: Pick<CodecPipeline, "spec" | "maxEncodedSize">): number {
  // Of items of varying size nobody knows how large they are.
  return isFixed(spec.dataType) ? foreignSizeBound(maxEncodedSize) : MAX_CHUNK_SIZE;
}
