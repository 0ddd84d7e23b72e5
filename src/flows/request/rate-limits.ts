import { type Context, paceFor } from "../../hierarchy/context.ts";
import type { PaceOptions } from "../../hierarchy/read-options.ts";
import type { StoreAccess } from "../../stores/access.ts";
import { privateAccessOf, type RequestHook } from "../../stores/remote/private-access.ts";
import type { Store, StoreSpec } from "../../stores/store.ts";
import { specOf } from "../../stores/url.ts";
import { requestTurns, withPaces, withRateLimit } from "../../stores/with/rate-limit.ts";
import { parseBytes } from "../../util/byte-size.ts";

/** Options of requests to a server. */
type RequestAccess = Pick<StoreAccess, "beforeRequest" | "fetch" | "retry">;

/** Rates, and the context that shares them. */
type Rates = PaceOptions & { readonly context?: Context | undefined };

/** Adds the rate limit of the options to each request to a server. A request first waits for `beforeRequest`. */
export function pacedAccess({
  requestsPerSecond,
  context,
  beforeRequest,
  fetch,
  retry,
}: Rates & RequestAccess): RequestAccess {
  if (requestsPerSecond === undefined) return { beforeRequest, fetch, retry };
  const turn = context ? sharedTurns(context) : requestTurns(requestsPerSecond);
  return {
    fetch,
    retry,
    beforeRequest: async (signal, origin) => {
      await beforeRequest?.(signal, origin);
      await turn(signal, origin);
    },
  };
}

function sharedTurns(context: Context): RequestHook {
  return async (signal, origin) => paceFor(context, "requestsPerSecond", origin)?.turn(1, signal);
}

/**
 * Limits the rates of a store as the options state. Requests are not limited again if the spec already has the
 * access of `pacedAccess`.
 */
export function withPace<S extends Store>(
  store: S,
  { requestsPerSecond, bytesPerSecond, context }: Rates,
  spec: StoreSpec | undefined,
) {
  const calls = spec !== undefined && privateAccessOf(spec).beforeRequest ? undefined : requestsPerSecond;
  if (calls === undefined && bytesPerSecond === undefined) return store;
  if (context) {
    const known = spec ?? specOf(store);
    const place = known === undefined ? store.description : placeOf(known);
    return withPaces(store, {
      requests: calls === undefined ? undefined : paceFor(context, "requestsPerSecond", place),
      bytes: bytesPerSecond === undefined ? undefined : paceFor(context, "bytesPerSecond", place),
    });
  }
  return withRateLimit(store, {
    requestsPerSecond: calls,
    bytesPerSecond: bytesPerSecond === undefined ? undefined : parseBytes(bytesPerSecond),
  });
}

/** Returns an identifier of the server that a store is on, or of the store itself if it is local. */
function placeOf(spec: StoreSpec): string {
  switch (spec.kind) {
    case "zip-value":
      return placeOf(spec.store);
    case "http":
      return new URL(spec.url).origin;
    case "s3":
      return `s3://${spec.bucket}`;
    case "memory":
      return `memory:${spec.name}`;
    case "object":
      return spec.description;
    default:
      return spec.path;
  }
}
