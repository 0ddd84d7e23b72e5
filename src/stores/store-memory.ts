import { MAX_TOGETHER } from "../util/merge-ranges.ts";
import type { StoreSpec } from "./store.ts";

/** Size of the first parts of an S3 upload of unknown size. S3 accepts only the last part below 5 MiB. */
export const S3_PART_BYTES = 8 * 2 ** 20;

/** Maximum number of parts that S3 accepts for one value. */
export const MAX_S3_PARTS = 10_000;

/** Returns the part size for an S3 value of the expected size, with room for 10% more. */
export function partBytes(expectedSize = 0): number {
  const least = Math.ceil((1.1 * expectedSize) / MAX_S3_PARTS);
  return Math.max(S3_PART_BYTES, Math.ceil(least / 2 ** 20) * 2 ** 20);
}

/** Returns the bytes that an open writer holds in memory, for the store that `spec` names. */
export function writerMemory({ kind }: StoreSpec, expectedSize?: number): number {
  return kind === "s3" ? partBytes(expectedSize) : 0;
}

/** Parts of a zip in memory at a time: one is filled while the others are sent. */
const ZIP_PARTS = 4;

/**
 * Returns the bytes that a target holds in memory during its whole build. Only a zip inside another store holds
 * any, for the one writer that it streams into: several parts if they fit in `most` bytes.
 */
export function buildMemory(spec: StoreSpec, expectedSize: number, most: number): number {
  const part = spec.kind === "zip-value" ? writerMemory(spec.store, expectedSize) : 0;
  return part === 0 ? 0 : part * Math.max(1, Math.min(ZIP_PARTS, Math.floor(most / part)));
}

/** Maximum number of bytes in flight for coalesced reads of a zip. */
export const MAX_HELD = 2 * MAX_TOGETHER;

/** Returns the bytes that reading the store of `spec` takes, in addition to the readers' buffers. */
export function readerMemory({ kind }: StoreSpec): number {
  return kind === "zip-value" ? MAX_HELD : 0;
}
