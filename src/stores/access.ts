import type { OptionNames } from "../util/options.ts";
import type { Fetch } from "../util/platform-types.ts";
import { keepSecret } from "../util/redact.ts";
import {
  privateAccessOf,
  type RequestHeaders,
  type RequestHook,
  withPrivateAccess,
} from "./remote/private-access.ts";
import type { AccessRetry, StoreSpec } from "./store.ts";

/** Options for reading a store that someone else maintains. */
export interface StoreAccess {
  /**
   * True to send S3 requests unsigned, as public data allows, even if credentials are available.
   *
   * @default false
   */
  readonly anonymous?: boolean | undefined;
  /**
   * Treats status 403 as a missing key. Some servers and buckets answer 403 to hide from strangers which keys
   * exist.
   *
   * @default false
   */
  readonly missing403?: boolean | undefined;
  /**
   * Headers of each request to a web server, such as `Authorization`, or a function that returns them before each
   * request. They are never shown, are not part of a plan, and are not sent to servers that a request is
   * redirected to. Buckets do not get them.
   *
   * @default undefined, none
   */
  readonly headers?: RequestHeaders | undefined;
  /**
   * Query of a web server's URL, such as `token=...`, for a URL that is given without it: plans and specs contain
   * no query.
   *
   * @default undefined, as in the URL
   */
  readonly query?: string | undefined;
  /**
   * Called before each request to a web server or a bucket, retries included. The request starts when it resolves.
   *
   * @default undefined, requests start immediately
   */
  readonly beforeRequest?: RequestHook | undefined;
  /**
   * Makes the requests to web servers and buckets, in place of the global `fetch`. It runs only in the thread that
   * has it, so that thread does all the work.
   *
   * @default undefined, the runtime's own
   */
  readonly fetch?: Fetch | undefined;
  /**
   * How often transient failures of web servers and buckets are retried, and how long each request may take, such
   * as `{ attempts: 3, timeout: "10s" }`. Plans and specs contain it.
   *
   * @default undefined, as `AccessRetry` says, or for a bucket as `AWS_MAX_ATTEMPTS` says
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

/** Adds access options to a spec. The query is kept outside it, because it may be a secret. */
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

/** Splits a URL into the part before its query and the query. */
function splitQuery(url: string): readonly [url: string, query: string | undefined] {
  const at = url.indexOf("?");
  return at < 0 ? [url, undefined] : [url.slice(0, at), url.slice(at + 1)];
}
