import { joinKey } from "../meta/join-key.ts";
import { CONSOLIDATED_LOCK_NAME } from "../stores/reserved-names.ts";
import { type LockStore, PrefixLock } from "../stores/target/prefix-lock.ts";
import { isZarrflowError } from "../util/errors.ts";
import { pause } from "../util/pause.ts";

/** Milliseconds after which the turn of a run that was killed counts as over, */
const STALE_AFTER = 60_000;
/** and those for which others wait for their turn: longer, so that a dead run keeps nobody off. */
const WAIT_AT_MOST = 2 * STALE_AFTER;
/** The most milliseconds between two looks at whose turn it is. */
const LOOK_EVERY = 200;

/**
 * Takes a step that reads consolidated metadata of the group at a path and writes them anew, alone: of two runs that
 * change different members of a hierarchy, none loses what the other wrote. Stores without conditional writes have no
 * turns.
 *
 * @param step is to call `assertHeld` before it writes, which fails when the turn is over
 * @throws `locked` when others take turns without end.
 */
export async function withConsolidatedTurn<T>(
  store: LockStore,
  path: string,
  step: (assertHeld: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const lock = await takeTurn(store, joinKey(path, CONSOLIDATED_LOCK_NAME));
  try {
    return await step(async () => lock?.assertHeld());
  } finally {
    // what is left counts for nothing soon
    await lock?.release().catch(() => {});
  }
}

async function takeTurn(store: LockStore, key: string): Promise<PrefixLock | undefined> {
  const begun = performance.now();
  for (;;) {
    try {
      return await PrefixLock.take(store, { key, staleAfter: STALE_AFTER });
    } catch (error) {
      if (!isZarrflowError(error, "locked") || performance.now() - begun > WAIT_AT_MOST) throw error;
      await pause(LOOK_EVERY * (0.1 + 0.9 * Math.random()));
    }
  }
}
