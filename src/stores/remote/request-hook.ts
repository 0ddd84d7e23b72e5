import type { Fetch } from "../../util/platform-types.ts";
import type { StoreSpec } from "../store.ts";

/** Called before each request to a server, also one that is made again; the request is made when it resolves. */
export type RequestHook = (signal: AbortSignal | undefined) => Promise<void>;

/** The runtime's own. Known before the first store is opened: programs may have put theirs in its place by then. */
export const ownFetch: Fetch = globalThis.fetch;

const hooks = new WeakMap<StoreSpec, RequestHook>();

/** The spec of a server, each request to which waits for `hook` when it is opened by this very object. */
export function withRequestHook<S extends StoreSpec>(spec: S, hook: RequestHook): S {
  const hooked = { ...spec };
  hooks.set(hooked, hook);
  return hooked;
}

/** What requests to the server of a spec wait for, if anything. */
export function requestHookOf(spec: StoreSpec): RequestHook | undefined {
  return spec.kind === "zip-value" ? requestHookOf(spec.store) : hooks.get(spec);
}

/** `next`, a place on the same server as `spec`, with the same hook. */
export function keepRequestHook<S extends StoreSpec>(spec: StoreSpec, next: S): S {
  const hook = hooks.get(spec);
  if (hook) hooks.set(next, hook);
  return next;
}
