import { ZarrflowError } from "../../util/errors.ts";
import type { PrefixLock } from "./prefix-lock.ts";
import type { ValueJournal } from "./value-journal.ts";

/** Makes the error for a place that contains the work of an unfinished run. */
export function unfinishedThere(store: string, key?: string): ZarrflowError {
  return new ZarrflowError("target-not-empty", "an unfinished run left its work at the target", {
    store,
    ...(key !== undefined && { key }),
    hint: "Continue that run with --resume, or remove its work with `zarrflow clean`.",
  });
}

/**
 * Removes the ledger and the lock of a run whose target is published. If that fails, readers do not see the rest,
 * and no run takes it for unfinished.
 */
export async function removeMarks(
  journal: ValueJournal | undefined,
  lock: PrefixLock | undefined,
): Promise<void> {
  const ends = await Promise.allSettled([journal?.remove(), lock?.release()]);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
