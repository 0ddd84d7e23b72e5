import {
  type ConcurrencyOption,
  Context,
  PACE_OPTIONS,
  type PaceOptions,
} from "../hierarchy/read-options.ts";
import type { FlowEvent } from "../run/events.ts";
import { STORE_ACCESS, type StoreAccess } from "../stores/access.ts";
import type { Retry } from "../stores/remote/retry-requests.ts";
import { checkedOptions, type OptionNames } from "../util/options.ts";
import { parseBytes } from "../util/units.ts";

/** Settings that all calls of a context share. A call may set its own access, and a smaller `maxMemory`. */
export interface ContextOptions extends StoreAccess, PaceOptions {
  /** Budget for the buffers of all calls together: bytes, or text such as `256MB`. By default each call has its own. */
  readonly maxMemory?: number | string | undefined;
  /** Requests in flight to each server, of all calls together. By default adapted to what the server can use. */
  readonly concurrency?: ConcurrencyOption | undefined;
  /** Size limit of a metadata document, in bytes. */
  readonly maxMetadata?: number | undefined;
  /** Called with every event of every call, in addition to the call's own `onEvent`. */
  readonly onEvent?: ((event: FlowEvent) => void) | undefined;
}

const CONTEXT_OPTIONS: OptionNames<ContextOptions> = {
  ...STORE_ACCESS,
  ...PACE_OPTIONS,
  maxMemory: true,
  concurrency: true,
  maxMetadata: true,
  onEvent: true,
};

/**
 * Creates what several calls share: one memory budget, one limit of requests and rates per server, one listener, and
 * the access to servers. Pass it to each call as `context`; a call's own options override it for that call.
 *
 * A call takes its `maxMemory` from the shared budget, and waits until that much is free. Calls that yield results,
 * such as `digest` or a stream of a slice, hold their part until they end: give calls that run in the meantime a
 * smaller `maxMemory`.
 *
 * @throws `invalid-option`
 * @example
 * ```ts
 * import { context, copy, rechunk } from "zarrflow";
 *
 * const shared = context({ maxMemory: "256MB", concurrency: 32, retry: { attempts: 5 } });
 * await Promise.all([
 *   copy("era5.zarr", "packed.zarr.zip", { context: shared, maxMemory: "64MB" }),
 *   rechunk("era5.zarr", "by-time.zarr", { context: shared, maxMemory: "128MB", chunks: { time: -1, latitude: 11 } }),
 * ]);
 * console.log(shared.peakMemory <= 256e6);
 * ```
 */
export function context(options: ContextOptions = {}): Context {
  const checked = checkedOptions(options, CONTEXT_OPTIONS);
  if (checked.maxMemory !== undefined) parseBytes(checked.maxMemory);
  const { onEvent } = checked;
  return new Context({ ...checked, ...(onEvent && { onEvent: onceForEachRetry(onEvent) }) });
}

/** Passes each retry on once: every active call reports all retries, whichever call made the request. */
function onceForEachRetry(onEvent: (event: FlowEvent) => void): (event: FlowEvent) => void {
  const known = new WeakSet<Retry>();
  return (event) => {
    if (event.type === "retry") {
      if (known.has(event.retry)) return;
      known.add(event.retry);
    }
    onEvent(event);
  };
}
