import type { Awaitable } from "../../util/awaitable.ts";
import type { Fetch } from "../../util/platform-types.ts";
import type { StoreSpec } from "../store.ts";

/**
 * Called before each request to a server, also one that is made again, with the origin of its URL; the request is made when it
 * resolves.
 */
export type RequestHook = (signal: AbortSignal | undefined, origin: string) => Promise<void>;

/** Headers of each request to a web server, or a function that is asked for them before each, such as for a token that expires. */
export type RequestHeaders =
  | Readonly<Record<string, string>>
  | (() => Awaitable<Readonly<Record<string, string>>>);

/** The runtime's own. Known before the first store is opened: programs may have put theirs in its place by then. */
export const ownFetch: Fetch = globalThis.fetch;

/** What this process alone knows of how to reach the server of a spec: it is in no plan, and in no spec that is written down. */
export interface PrivateAccess {
  /** What each request waits for. */
  readonly beforeRequest?: RequestHook | undefined;
  /** What makes the requests in place of the runtime's own. */
  readonly fetch?: Fetch | undefined;
  readonly headers?: RequestHeaders | undefined;
  /** The query of every URL, without its `?`: a token, or a signature. */
  readonly query?: string | undefined;
}

const known = new WeakMap<StoreSpec, PrivateAccess>();

/** The spec of a server that is reached so when it is opened by this very object. */
export function withPrivateAccess<S extends StoreSpec>(spec: S, access: PrivateAccess): S {
  const own = { ...spec };
  known.set(own, access);
  return own;
}

export function privateAccessOf(spec: StoreSpec): PrivateAccess {
  return spec.kind === "zip-value" ? privateAccessOf(spec.store) : (known.get(spec) ?? {});
}

/** `next`, a place on the same server as `spec`, reached in the same way. */
export function keepPrivateAccess<S extends StoreSpec>(spec: StoreSpec, next: S): S {
  const access = known.get(spec);
  if (access) known.set(next, access);
  return next;
}
