import type { Store } from "../../stores/store.ts";
import { type Wrapped, wrapStore } from "../../stores/with/around.ts";

/**
 * A store whose calls look up first. Calls that block never let a thread see to anything else: `lookUp` throws when it
 * is to stop, or returns what to wait for.
 */
export function attentive<S extends Store>(store: S, lookUp: () => Promise<void> | undefined): Wrapped<S> {
  return wrapStore(store, async (_call, run) => {
    const other = lookUp();
    if (other) await other;
    return run();
  });
}
