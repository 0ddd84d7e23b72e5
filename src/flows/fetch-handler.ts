import type { OpenSource } from "../hierarchy/open/open.ts";
import { READ_OPTIONS, type ReadOptions } from "../hierarchy/read-options.ts";
import { KEY_FILTER, type KeyFilter } from "../plan/key-filter.ts";
import { EVENT_OPTIONS, type EventOptions } from "../run/events.ts";
import { assertPlace } from "../stores/assertions.ts";
import { isKey } from "../stores/key.ts";
import type { Store } from "../stores/store.ts";
import { ByteBudget, memoryLimit } from "../streams/byte-budget.ts";
import { type ByteRange, resolveRange } from "../util/byte-range.ts";
import { HTTP_STATUS, isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { assertKnown, checkedOptions, type OptionNames } from "../util/options.ts";
import { streamFrom } from "../util/web-streams.ts";
import { asStore } from "./as-store.ts";
import { CHANGES, type Changes } from "./request/flow-options.ts";

/** How a source is served. */
export interface FetchHandlerOptions extends ReadOptions, EventOptions {
  /**
   * Path prefix of the keys, not percent-encoded: with `/era5/`, a request for `/era5/t2m/0.0` reads `t2m/0.0`. Other
   * paths are answered with 404.
   *
   * @default "/"
   */
  readonly base?: string | undefined;
  /**
   * If true, chunks that contain only the fill value are served too.
   *
   * @default false
   */
  readonly writeEmptyChunks?: boolean | undefined;
  /**
   * Called with the error when a request fails; the client gets only its code. Not called if the client disconnects.
   * Errors that it throws are ignored.
   */
  readonly onFailure?: ((error: unknown, request: Request) => void) | undefined;
}

const FETCH_HANDLER_OPTIONS: OptionNames<FetchHandlerOptions> = {
  ...READ_OPTIONS,
  ...EVENT_OPTIONS,
  base: true,
  writeEmptyChunks: true,
  onFailure: true,
};

/** Answers requests for the keys of a source. It never rejects: failures become responses. */
export interface FetchHandler {
  (request: Request): Promise<Response>;
  /**
   * Opens the source now instead of on the first request, so that a server fails at startup.
   *
   * @throws as `asStore`. The next call or request tries again.
   */
  open(): Promise<void>;
  /** Closes the source. Call it when no request is in flight; later requests are answered with 503. */
  close(): Promise<void>;
}

/** Part of the budget for data read for clients; `asStore` leaves it free. */
const SENT_PART = 1 / 16;

/**
 * Serves a source as a read-only Zarr over HTTP, from any server or worker that answers a `Request` with a `Response`
 * (Deno, Bun, Cloudflare, Hono, Node with an adapter). Each chunk is rechunked, recoded, converted or sliced on
 * request, as by `asStore`. Uses Web APIs only.
 *
 * Answers `GET` and `HEAD`, for a whole value or one range, to pages of any origin. Responses have entity tags if the
 * source has versions; a missing key is 404. Groups get consolidated metadata, since clients cannot list keys. A client
 * that disconnects aborts its reads. The source must not change while it is served.
 *
 * `maxMemory` bounds what all requests hold together. A piece (at most 1 MiB) no longer counts once it has been read
 * for a client, even if the client has not taken it: a client that does not read blocks nobody.
 *
 * @throws `invalid-option` for a source that is not a place, and for unknown changes and options. Other failures go to
 *   `open`, `onFailure`, and to the client as the status in `HTTP_STATUS`, with 500 in place of 4xx because the client
 *   names only a key.
 * @example
 * ```ts
 * import { toFetchHandler } from "zarrflow";
 *
 * const handler = toFetchHandler("era5.zarr", { chunks: { time: -1, latitude: 11 }, to: "v3" });
 * // Deno.serve(handler), Bun.serve({ fetch: handler }), export default { fetch: handler }
 * const response = await handler(new Request("http://127.0.0.1/t2m/zarr.json"));
 * console.log(response.status, response.headers.get("content-type")); // 200 application/json
 * await handler.close();
 * ```
 */
export function toFetchHandler(
  source: OpenSource,
  changes: Changes & KeyFilter = {},
  options: FetchHandlerOptions = {},
): FetchHandler {
  assertPlace(source, "source");
  assertKnown(changes, { ...CHANGES, ...KEY_FILTER });
  const { base, onFailure, ...reading } = checkedOptions(options, FETCH_HANDLER_OPTIONS);
  const maxBytes = Math.ceil(memoryLimit(reading) * SENT_PART);
  let opened: Promise<Store> | undefined;
  let isClosed = false;
  const open = (): Promise<Store> => {
    if (isClosed) return Promise.reject(new ZarrflowError("aborted", "the handler is closed"));
    opened ??= asStore(source, { ...changes, ...reading, consolidated: true }).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return Object.assign(storeHandler(open, { base, maxBytes, onFailure }), {
    open: async () => {
      await open();
    },
    close: async () => {
      isClosed = true;
      const store = await opened?.catch(() => undefined);
      await store?.close?.();
    },
  });
}

/** Bytes of a value that are read at a time, and that wait for a client. */
const PIECE = 2 ** 20;
/** Longest key, in characters; file systems allow fewer. */
const MAX_KEY = 2048;

/** Lets pages of any origin read, with ranges. */
const CROSS_ORIGIN = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Accept-Ranges, Content-Length, Content-Range, ETag",
  "cross-origin-resource-policy": "cross-origin",
};
const PREFLIGHT = {
  "access-control-allow-methods": "GET, HEAD, OPTIONS",
  "access-control-allow-headers": "Range, If-Range, If-None-Match",
  "access-control-allow-private-network": "true",
  "access-control-max-age": "86400",
};

/** How the values of a store are served. */
export interface StoreHandlerOptions extends Pick<FetchHandlerOptions, "base" | "onFailure"> {
  /** Bytes of values being read, for all clients together. */
  readonly maxBytes: number;
}

/** Answers requests for the values of a store by key: the whole value or one range, with an entity tag. */
export function storeHandler(
  open: () => Promise<Store>,
  { base = "", maxBytes, onFailure = () => {} }: StoreHandlerOptions,
): (request: Request) => Promise<Response> {
  const budget = new ByteBudget(maxBytes);
  const root = `/${base}/`.replace(/\/+/g, "/");
  return async (request) => {
    if (request.method === "OPTIONS")
      return new Response(null, { status: 204, headers: { ...CROSS_ORIGIN, ...PREFLIGHT } });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refusal(405, "method not allowed", { allow: "GET, HEAD, OPTIONS" });
    }
    const fail = async (error: unknown) => {
      try {
        if (!request.signal.aborted) await onFailure(error, request);
      } catch {
        // The client gets the original failure, not this one.
      }
    };
    try {
      return await answer(await open(), request, { root, budget, fail });
    } catch (error) {
      void fail(error);
      return failure(error);
    }
  };
}

/**
 * Response for an error. The client only names a key: unless that is invalid, the fault is the server's or the
 * source's. 404 is reserved for missing keys, because a client treats their chunks as empty.
 */
function failure(error: unknown): Response {
  if (!isZarrflowError(error)) return refusal(500, "internal error");
  const status = HTTP_STATUS[error.code];
  const wait = isZarrflowError(error, "transient") ? error.details.retryAfter : undefined;
  const headers = wait === undefined ? undefined : { "retry-after": `${Math.ceil(wait)}` };
  return refusal(status >= 500 || error.code === "path-not-allowed" ? status : 500, error.code, headers);
}

interface Answering {
  readonly root: string;
  readonly budget: ByteBudget;
  readonly fail: (error: unknown) => void;
}

async function answer(store: Store, request: Request, { root, budget, fail }: Answering): Promise<Response> {
  const { signal, headers: asked } = request;
  const key = keyOf(request, root);
  if (key === undefined) return refusal(400, "bad request");
  if (key.length > MAX_KEY || !isKey(key)) return refusal(404, "not found");
  let version: string | undefined;
  const onVersion = (found: string) => {
    version = found;
  };
  const size = await store.size(key, { signal, onVersion });
  if (size === undefined) return refusal(404, "not found");
  const etag = version === undefined ? undefined : `"${encodeURIComponent(version)}"`;
  const headers = {
    ...CROSS_ORIGIN,
    "accept-ranges": "bytes",
    "cache-control": "no-cache",
    ...(etag && { etag }),
  };
  if (etag && isNamed(asked.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  const isSame = asked.get("if-range") === null || asked.get("if-range") === etag;
  const range = isSame ? rangeOf(asked.get("range")) : undefined;
  const { offset, length } = resolveRange(range, size);
  if (range && length === 0)
    return refusal(416, "range not satisfiable", { "content-range": `bytes */${size}` });
  const all = {
    ...headers,
    "content-type": /(?:\.json|\.z[a-z]+)$/.test(key) ? "application/json" : "application/octet-stream",
    "content-length": `${length}`,
    ...(range && { "content-range": `bytes ${offset}-${offset + length - 1}/${size}` }),
  };
  const status = range ? 206 : 200;
  if (request.method === "HEAD" || length === 0) return new Response(null, { status, headers: all });
  const pieces = piecesOf(store, key, { offset, length, version, budget, signal });
  // The first piece may fail, so it is read before the status is sent.
  const first = await pieces.next();
  return new Response(streamFrom(resumed(first, pieces, fail)), { status, headers: all });
}

interface Part {
  readonly offset: number;
  readonly length: number;
  readonly version: string | undefined;
  readonly budget: ByteBudget;
  readonly signal: AbortSignal;
}

/** Yields a part of a value in pieces. Each piece counts only while it is read, since the client may never take it. */
async function* piecesOf(
  store: Store,
  key: string,
  { offset, length, version: ifVersion, budget, signal }: Part,
): AsyncGenerator<Uint8Array> {
  const end = offset + length;
  for (let at = offset; at < end; ) {
    const bytes = Math.min(PIECE, budget.limit, end - at);
    const lease = await budget.acquire(bytes, signal);
    const piece = await store
      .get(key, { range: { offset: at, length: bytes }, ifVersion, signal })
      .finally(lease.release);
    if (piece?.length !== bytes) throw new Error("the value changed while it was being read");
    yield piece;
    at += bytes;
  }
}

async function* resumed<T>(
  first: IteratorResult<T>,
  rest: AsyncGenerator<T>,
  fail: (error: unknown) => void,
): AsyncGenerator<T> {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } catch (error) {
    fail(error);
    throw error;
  }
}

/** Key that a request names; empty outside the root, undefined if the path is not valid percent-encoding. */
function keyOf({ url }: Request, root: string): string | undefined {
  try {
    const path = decodeURIComponent(new URL(url).pathname);
    return path.startsWith(root) ? path.slice(root.length) : "";
  } catch {
    return undefined;
  }
}

/**
 * Range that a header asks for. Undefined for none, several or an invalid one, which are answered with the whole value.
 */
function rangeOf(header: string | null): ByteRange | undefined {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "") ?? [];
  if (first === "") return last === "" ? undefined : { suffix: Number(last) };
  if (last === "") return { offset: Number(first) };
  const length = Number(last) + 1 - Number(first);
  return length > 0 ? { offset: Number(first), length } : undefined;
}

/** True if a list of entity tags is `*` or contains the tag, strong or weak. */
function isNamed(list: string | null, etag: string): boolean {
  const tags = list?.split(",").map((one) => one.trim().replace(/^W\//, "")) ?? [];
  return tags.includes("*") || tags.includes(etag);
}

function refusal(status: number, words: string, headers: Record<string, string> = {}): Response {
  const all = { ...CROSS_ORIGIN, "content-type": "text/plain", ...headers };
  return new Response(`${words}\n`, { status, headers: all });
}
