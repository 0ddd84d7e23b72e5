import type { Awaitable } from "../../util/awaitable.ts";
import type { Fetch } from "../../util/platform-types.ts";
import type { StoreSpec } from "../store.ts";

/**
 * Called before each request to a server, retries included, with the origin of its URL. The request starts when it
 * resolves.
 */
export type RequestHook = (signal: AbortSignal | undefined, origin: string) => Promise<void>;

/**
 * Headers of each request to a web server, or a function that returns them before each request, for example for a
 * token that expires.
 */
export type RequestHeaders =
  | Readonly<Record<string, string>>
  | (() => Awaitable<Readonly<Record<string, string>>>);

/** The runtime's own `fetch`, saved before the first store is opened, because programs may replace it. */
export const ownFetch: Fetch = globalThis.fetch;

/** Access to the server of a spec that only this process knows. It is in no plan, and in no saved spec. */
export interface PrivateAccess {
  /** Called before each request. */
  readonly beforeRequest?: RequestHook | undefined;
  /** Makes the requests in place of the runtime's `fetch`. */
  readonly fetch?: Fetch | undefined;
  readonly headers?: RequestHeaders | undefined;
  /** Query of every URL, without its `?`: a token or a signature. */
  readonly query?: string | undefined;
}

const known = new WeakMap<StoreSpec, PrivateAccess>();

/** Returns a copy of a spec with private access, which only this very object has. */
export function withPrivateAccess<S extends StoreSpec>(spec: S, access: PrivateAccess): S {
  const own = { ...spec };
  known.set(own, access);
  return own;
}

export function privateAccessOf(spec: StoreSpec): PrivateAccess {
  return spec.kind === "zip-value" ? privateAccessOf(spec.store) : (known.get(spec) ?? {});
}

/** Gives `next`, a place on the same server as `spec`, the same private access. */
export function keepPrivateAccess<S extends StoreSpec>(spec: StoreSpec, next: S): S {
  const access = known.get(spec);
  if (access) known.set(next, access);
  return next;
}
