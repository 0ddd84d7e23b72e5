import { ZarrflowError } from "../../util/errors.ts";

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
