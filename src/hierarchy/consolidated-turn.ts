import { joinKey } from "../meta/join-key.ts";
import { CONSOLIDATED_LOCK_NAME } from "../stores/reserved-names.ts";
import { type LockStore, PrefixLock } from "../stores/target/prefix-lock.ts";
import { isZarrflowError } from "../util/errors.ts";
import { pause } from "../util/pause.ts";

/** Milliseconds after which the turn of a killed run has expired. */
const STALE_AFTER = 60_000;
/** Milliseconds to wait for a turn: longer than the expiry, so that a dead run blocks nobody. */
const WAIT_AT_MOST = 2 * STALE_AFTER;
/** Maximum number of milliseconds between two attempts. */
const LOOK_EVERY = 200;

/**
 * Runs a step that reads and rewrites the consolidated metadata of the group at a path, while no other run does. Two
 * runs that change different members of a hierarchy thus keep each other's changes. Stores without conditional writes
 * have no turns.
 *
 * @param step must call `assertHeld` before it writes, which throws if the turn has expired
 * @throws `locked` if others hold the turn for too long.
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
    // a turn that remains expires soon
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
