import { MAX_TOGETHER } from "../util/merge-ranges.ts";
import type { StoreSpec } from "./store.ts";

/** Bytes of the first parts in which S3 is given a value of unknown size; it takes none below 5 MiB but the last. */
export const S3_PART_BYTES = 8 * 2 ** 20;

/** S3 takes a value in so many parts at most. */
export const MAX_S3_PARTS = 10_000;

/** Bytes of the parts in which S3 is given a value of so many bytes, with room for one that grows by a tenth. */
export function partBytes(expectedSize = 0): number {
  const least = Math.ceil((1.1 * expectedSize) / MAX_S3_PARTS);
  return Math.max(S3_PART_BYTES, Math.ceil(least / 2 ** 20) * 2 ** 20);
}

/** Bytes that a writer of a value holds while it is open, in the store that `spec` names. */
export function writerMemory({ kind }: StoreSpec, expectedSize?: number): number {
  return kind === "s3" ? partBytes(expectedSize) : 0;
}

/** Parts of a zip that are held at one time: one is filled while the others are sent. */
const ZIP_PARTS = 4;

/**
 * Bytes that a target holds from the begin of its build to the end: those of the one writer that a zip inside another
 * store streams into. It holds several parts where they fit in `most` bytes.
 */
export function buildMemory(spec: StoreSpec, expectedSize: number, most: number): number {
  const part = spec.kind === "zip-value" ? writerMemory(spec.store, expectedSize) : 0;
  return part === 0 ? 0 : part * Math.max(1, Math.min(ZIP_PARTS, Math.floor(most / part)));
}

/** The most bytes of all requests for several ranges of a zip that are under way. */
export const MAX_HELD = 2 * MAX_TOGETHER;

/** Bytes that reading the store which `spec` names takes, besides the buffers of those who read. */
export function readerMemory({ kind }: StoreSpec): number {
  return kind === "zip-value" ? MAX_HELD : 0;
}
