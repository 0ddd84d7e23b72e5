import type { StoreAccess } from "../../stores/access.ts";
import { privateAccessOf } from "../../stores/remote/private-access.ts";
import type { Store, StoreSpec } from "../../stores/store.ts";
import { requestTurns, withRateLimit } from "../../stores/with/rate-limit.ts";
import { parseBytes } from "../../util/byte-size.ts";
import type { OptionNames } from "../../util/check-options.ts";

export interface PaceOptions {
  /**
   * Requests that begin in a second, at most, for each store: of web servers and buckets each that is sent, also pages
   * of a listing, parts of an upload and repetitions; of other stores each call.
   */
  readonly requestsPerSecond?: number;
  /** Bytes that are read from each store and written to it in a second, at most, as a number or as `10MB`. */
  readonly bytesPerSecond?: number | string;
}

export const PACE_OPTIONS: OptionNames<PaceOptions> = { requestsPerSecond: true, bytesPerSecond: true };

/** Access to a server that is asked within the rates that the options set, after what else a request waits for. */
export function pacedAccess({
  requestsPerSecond,
  beforeRequest,
}: PaceOptions & Pick<StoreAccess, "beforeRequest">): Pick<StoreAccess, "beforeRequest"> {
  if (requestsPerSecond === undefined) return { beforeRequest };
  const turn = requestTurns(requestsPerSecond);
  return {
    beforeRequest: async (signal) => {
      await beforeRequest?.(signal);
      await turn(signal);
    },
  };
}

/** A store that keeps to the rates that the options set, by itself where its spec is of `pacedAccess`. */
export function withPace<S extends Store>(
  store: S,
  { requestsPerSecond, bytesPerSecond }: PaceOptions,
  spec: StoreSpec | undefined,
) {
  const calls = spec !== undefined && privateAccessOf(spec).beforeRequest ? undefined : requestsPerSecond;
  if (calls === undefined && bytesPerSecond === undefined) return store;
  return withRateLimit(store, {
    requestsPerSecond: calls,
    bytesPerSecond: bytesPerSecond === undefined ? undefined : parseBytes(bytesPerSecond),
  });
}
