import { Context } from "../hierarchy/context.ts";
import { type ConcurrencyOption, PACE_OPTIONS, type PaceOptions } from "../hierarchy/read-options.ts";
import { STORE_ACCESS, type StoreAccess } from "../stores/access.ts";
import type { Retry } from "../stores/remote/retry-events.ts";
import { parseBytes } from "../util/byte-size.ts";
import { checkedOptions, type OptionNames } from "../util/check-options.ts";
import type { FlowEvent } from "./events.ts";

/** What calls of a context have in common. A call may state its own access, and a smaller `maxMemory`. */
export interface ContextOptions extends StoreAccess, PaceOptions {
  /** Bytes that all buffers of all calls together may take, as a number or as `256MB`; by default each call has its own. */
  readonly maxMemory?: number | string | undefined;
  /** Requests in flight of all calls together, for each server; by default as many as are found to be of use. */
  readonly concurrency?: ConcurrencyOption | undefined;
  /** The largest metadata document that is read, in bytes. */
  readonly maxMetadata?: number | undefined;
  /** Called with each event of each call, besides the call's own `onEvent`. */
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
 * What several calls share: one memory budget, one limit of requests in flight and of rates for each server, one listener, and
 * how servers are reached. Give it to each call as `context`; what the call states itself counts for it alone.
 *
 * A call takes from the budget what it may hold at most, and waits until so much is free. What yields, such as `digest`, or a
 * stream of a slice, holds its part until it ends: state a smaller `maxMemory` for a call that is made meanwhile.
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

/** Every call at work hears of a request that is made again, whichever of them made it. */
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
