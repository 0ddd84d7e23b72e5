import type { PaceOptions } from "../../hierarchy/read-options.ts";
import type { StoreAccess } from "../../stores/access.ts";
import { privateAccessOf } from "../../stores/remote/private-access.ts";
import type { Store, StoreSpec } from "../../stores/store.ts";
import { requestTurns, withRateLimit } from "../../stores/with/rate-limit.ts";
import { parseBytes } from "../../util/byte-size.ts";

/** How requests to a server are made, whatever it stores. */
type RequestAccess = Pick<StoreAccess, "beforeRequest" | "fetch" | "retry">;

/** Access to a server that is asked within the rates that the options set, after what else a request waits for. */
export function pacedAccess({
  requestsPerSecond,
  beforeRequest,
  fetch,
  retry,
}: PaceOptions & RequestAccess): RequestAccess {
  if (requestsPerSecond === undefined) return { beforeRequest, fetch, retry };
  const turn = requestTurns(requestsPerSecond);
  return {
    fetch,
    retry,
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
