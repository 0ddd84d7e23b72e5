import type { Store } from "../../../stores/store.ts";
import { type Wrapped, wrapStore } from "../../../stores/with/wrap-store.ts";

/**
 * A store whose calls look up first. Calls that block never let a thread see to anything else: `lookUp` returns what to
 * wait for, which rejects when the thread is to stop.
 */
export function withStopCheck<S extends Store>(
  store: S,
  lookUp: () => Promise<void> | undefined,
): Wrapped<S> {
  return wrapStore(store, (_call, run) => lookUp()?.then(run) ?? run());
}
