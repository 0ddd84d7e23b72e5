import { ZarrflowError } from "../../util/errors.ts";

/** The most chunks of one array that a run reads, or writes. */
const MAX_CHUNKS = 2 ** 31;

/** What a run goes through, whether it is stored or not. */
interface Counted {
  /** Items of the part that is taken. */
  readonly items: number;
  /** Chunks read or written, repeats included. */
  readonly chunks: number;
}

/**
 * Holds that a run over all items of an array comes to an end: hostile and sparse arrays state shapes of which only
 * parts can be read.
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
