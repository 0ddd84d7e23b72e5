import type { OptionNames } from "../util/check-options.ts";
import type { Fetch } from "../util/platform-types.ts";
import { keepSecret } from "../util/redact.ts";
import {
  privateAccessOf,
  type RequestHeaders,
  type RequestHook,
  withPrivateAccess,
} from "./remote/private-access.ts";
import type { AccessRetry, StoreSpec } from "./store.ts";

/** How a store that others keep is read. */
export interface StoreAccess {
  /**
   * Whether requests to S3 are not signed, as public data need none; in spite of credentials that are there.
   *
   * @default false
   */
  readonly anonymous?: boolean | undefined;
  /**
   * Takes 403 for a missing key, as servers and buckets answer that do not show strangers what exists.
   *
   * @default false
   */
  readonly missing403?: boolean | undefined;
  /**
   * Headers of each request to a web server, such as an `Authorization`, or a function that gives them before each. They
   * are shown nowhere, are part of no plan, and are sent to no server that a request is redirected to. Buckets get none.
   *
   * @default undefined, none
   */
  readonly headers?: RequestHeaders | undefined;
  /**
   * The query of a web server's URL, such as `token=...`, where the place is given without it: plans and specs hold
   * none.
   *
   * @default undefined, as in the URL
   */
  readonly query?: string | undefined;
  /**
   * Called before each request to a web server or a bucket, also one that is made again; the request is made when it
   * resolves.
   *
   * @default undefined, nothing is waited for
   */
  readonly beforeRequest?: RequestHook | undefined;
  /**
   * Makes the requests to web servers and buckets, in place of the global `fetch`. It is asked in the thread that has it
   * alone, so that the whole work is done there.
   *
   * @default undefined, the runtime's own
   */
  readonly fetch?: Fetch | undefined;
  /**
   * How often requests to web servers and buckets are made again that failed temporarily, and how long each may take, such as
   * `{ attempts: 3, timeout: "10s" }`. Plans and specs hold it.
   *
   * @default undefined, as `AccessRetry` says, or of a bucket as `AWS_MAX_ATTEMPTS` does
   */
  readonly retry?: AccessRetry | undefined;
}

export const STORE_ACCESS: OptionNames<StoreAccess> = {
  anonymous: true,
  missing403: true,
  beforeRequest: true,
  fetch: true,
  retry: true,
  headers: true,
  query: true,
};

/** The spec of a store that is read so, without a query, which is kept apart. */
export function accessedBy(spec: StoreSpec, access: StoreAccess): StoreSpec {
  if (spec.kind === "zip-value") return { ...spec, store: accessedBy(spec.store, access) };
  if (spec.kind !== "http" && spec.kind !== "s3") return spec;
  const { anonymous, missing403, retry } = access;
  const before = privateAccessOf(spec);
  const beforeRequest = access.beforeRequest ?? before.beforeRequest;
  const fetch = access.fetch ?? before.fetch;
  const common = { ...(missing403 && { missing403 }), ...(retry && { retry }) };
  if (spec.kind === "s3") {
    const accessed = { ...spec, ...(anonymous && { anonymous }), ...common };
    return withPrivateAccess(accessed, { beforeRequest, fetch });
  }
  const [url, own] = splitQuery(spec.url);
  const headers = access.headers ?? before.headers;
  const query = (access.query?.replace(/^\?/, "") || own) ?? before.query;
  if (query) keepSecret(`?${query}`);
  const accessed = {
    ...spec,
    url,
    ...common,
    ...(headers && { hasHeaders: true }),
    ...(query && { hasQuery: true }),
  };
  return withPrivateAccess(accessed, { beforeRequest, fetch, headers, query });
}

/** A URL without its query, and that. */
function splitQuery(url: string): readonly [url: string, query: string | undefined] {
  const at = url.indexOf("?");
  return at < 0 ? [url, undefined] : [url.slice(0, at), url.slice(at + 1)];
}
