import { isKey } from "../../stores/key.ts";
import type { Store } from "../../stores/store.ts";
import { ByteBudget, type Lease } from "../../streams/byte-budget.ts";
import { type ByteRange, resolveRange } from "../../util/byte-range.ts";
import { type ErrorCode, isZarrflowError } from "../../util/errors.ts";
import { streamFrom } from "../../util/web-streams.ts";
import type { RequestHandler } from "./serve-requests.ts";

export interface StoreHandlerOptions {
  /** Bytes of values that are on their way to clients, of all together. */
  readonly maxBytes: number;
  /** Called with what a value could not be read for. */
  readonly onFailure: (error: unknown, request: Request) => void;
}

/** Most bytes of a value that are read at one time. */
const PIECE = 2 ** 20;
/** A key with more characters names nothing: file systems take fewer. */
const MAX_KEY = 2048;

/** Pages of any origin may read, with ranges. */
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

/** Failures of the source, which may be well again when it is asked once more. */
const OF_SOURCE: readonly ErrorCode[] = [
  "transient",
  "short-read",
  "access-denied",
  "corrupt-chunk",
  "corrupt-store",
  "codec-error",
  "source-changed",
];

/**
 * Answers requests for the values of a store, by key: whole or one range of them, with an entity tag. What is not there
 * is 404. A failure is 502 where the source has failed, else 500, with its code alone.
 */
export function storeHandler(store: Store, { maxBytes, onFailure }: StoreHandlerOptions): RequestHandler {
  const budget = new ByteBudget(maxBytes);
  return async (request) => {
    if (request.method === "OPTIONS")
      return new Response(null, { status: 204, headers: { ...CROSS_ORIGIN, ...PREFLIGHT } });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refusal(405, "method not allowed", { allow: "GET, HEAD, OPTIONS" });
    }
    try {
      return await answer(store, request, budget);
    } catch (error) {
      if (request.signal.aborted) throw error;
      onFailure(error, request);
      const isOfSource = isZarrflowError(error) && OF_SOURCE.includes(error.code);
      return refusal(isOfSource ? 502 : 500, isZarrflowError(error) ? error.code : "internal error");
    }
  };
}

async function answer(store: Store, request: Request, budget: ByteBudget): Promise<Response> {
  const { signal, headers: asked } = request;
  const key = keyOf(request);
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
  // The first piece is read before the status is sent: it may fail.
  const first = await pieces.next();
  return new Response(streamFrom(resumed(first, pieces)), { status, headers: all });
}

interface Part {
  readonly offset: number;
  readonly length: number;
  readonly version: string | undefined;
  readonly budget: ByteBudget;
  readonly signal: AbortSignal;
}

/** A part of a value, piece by piece; each counts until the next is asked for. */
async function* piecesOf(
  store: Store,
  key: string,
  { offset, length, version: ifVersion, budget, signal }: Part,
): AsyncGenerator<Uint8Array> {
  const end = offset + length;
  let lease: Lease | undefined;
  try {
    for (let at = offset; at < end; ) {
      lease?.release();
      const bytes = Math.min(PIECE, budget.limit, end - at);
      lease = await budget.acquire(bytes, signal);
      const piece = await store.get(key, { range: { offset: at, length: bytes }, ifVersion, signal });
      if (piece?.length !== bytes) throw new Error("the value was changed while it was read");
      yield piece;
      at += bytes;
    }
  } finally {
    lease?.release();
  }
}

async function* resumed<T>(first: IteratorResult<T>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

/** Undefined where the path is no percent-encoded text. */
function keyOf({ url }: Request): string | undefined {
  try {
    return decodeURIComponent(new URL(url).pathname.slice(1));
  } catch {
    return undefined;
  }
}

/** The range that a header asks for; undefined for none, several, and what is none, for which all is answered. */
function rangeOf(header: string | null): ByteRange | undefined {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "") ?? [];
  if (first === "") return last === "" ? undefined : { suffix: Number(last) };
  if (last === "") return { offset: Number(first) };
  const length = Number(last) + 1 - Number(first);
  return length > 0 ? { offset: Number(first), length } : undefined;
}

/** Whether a list of entity tags has one, strong or weak, or is `*`. */
function isNamed(list: string | null, etag: string): boolean {
  const tags = list?.split(",").map((one) => one.trim().replace(/^W\//, "")) ?? [];
  return tags.includes("*") || tags.includes(etag);
}

function refusal(status: number, words: string, headers: Record<string, string> = {}): Response {
  const all = { ...CROSS_ORIGIN, "content-type": "text/plain", ...headers };
  return new Response(`${words}\n`, { status, headers: all });
}
