import type { StoreSpec } from "./store.ts";

/** Bytes of the first parts in which S3 is given a value of unknown size; it takes none below 5 MiB but the last. */
export const S3_PART_BYTES = 8 * 2 ** 20;

/** Bytes that a writer of a value of unknown size holds while it is open, in the store that `spec` names. */
export function writerMemory({ kind }: StoreSpec): number {
  return kind === "s3" ? S3_PART_BYTES : 0;
}
