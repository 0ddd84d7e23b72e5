import { platformSignal } from "../../util/abort.ts";
import type { HttpBody, HttpResponse, PlainFetch } from "../http/http-response.ts";
import { patienceWith } from "./patience.ts";
import type { RequestHook } from "./private-access.ts";
import { emitRetry } from "./retry-events.ts";
import { SilenceWatch } from "./silence-watch.ts";

/** Maximum number of attempts for a late request. */
const MOST_ATTEMPTS = 3;
/** Maximum size in bytes of a range that is retried when late. Larger ones take long and are expensive to repeat. */
const LARGE_RANGE = 2 ** 20;
/** Slowest upload in bytes a second; silence may last as long as the body takes at this speed. */
const SLOWEST_UPLOAD = 64 * 1024;

export interface TimedRequest {
  /** Milliseconds for which the server may be silent. */
  readonly silence: number;
  /** Milliseconds after which a request that its caller aborts is ended. @default 0 */
  readonly linger?: number;
  readonly beforeRequest?: RequestHook | undefined;
}

/**
 * Like `fetch`, but fails if the server is silent for `silence` milliseconds, before its response or before the
 * next piece of the body. It also fails if all waits for a body together take ten times as long and the server
 * sends less than 1 KiB a second. While a body is sent, silence may last as long as a slow connection takes.
 *
 * A request that changes something should linger after an abort until it is probably answered. Otherwise the
 * server might execute it after the caller's next request. A read whose response is much later than usual for its
 * server is aborted and retried, up to twice; `silence` limits all attempts together.
 *
 * @throws `transient` on silence, also while the body is read; `aborted`.
 */
export async function fetchWithTimeout(
  fetch: PlainFetch,
  url: URL,
  init: Parameters<PlainFetch>[1],
  { silence, linger = 0, beforeRequest }: TimedRequest,
): Promise<HttpResponse> {
  const { method = "GET", signal: caller } = init;
  const { origin, pathname: key } = url;
  const bytes = rangeBytes(init.headers?.range);
  const isRead = (method === "GET" || method === "HEAD") && bytes <= LARGE_RANGE;
  const begun = performance.now();
  for (let attempt = 1; ; attempt++) {
    const patience = isRead && attempt < MOST_ATTEMPTS ? patienceWith(url) : undefined;
    const watch = new SilenceWatch({ origin, silence, caller, linger, patience, attempt, bytes });
    try {
      return await answerTo(fetch, url, init, watch, attempt === 1 ? undefined : begun - performance.now());
    } catch (failure) {
      const error = watch.late;
      if (error === undefined) throw failure;
      emitRetry({ store: origin, operation: method, key, error, attempt, wait: 0 });
      await beforeRequest?.(platformSignal(caller), origin);
    }
  }
}

/** @param more milliseconds of silence that are allowed in addition */
async function answerTo(
  fetch: PlainFetch,
  url: URL,
  init: Parameters<PlainFetch>[1],
  watch: SilenceWatch,
  more = (sizeOf(init.body) / SLOWEST_UPLOAD) * 1000,
): Promise<HttpResponse> {
  try {
    watch.ask(more);
    const response = await fetch(url, { ...init, signal: watch.signal });
    watch.answered();
    const { ok, status, statusText, headers, type, body } = response;
    if (body === null) watch.end();
    return { ok, status, statusText, headers, type, body: body && watched(body, watch) };
  } catch (error) {
    watch.end();
    throw error;
  }
}

/** Returns the same body, watched while it is read. */
function watched(body: HttpBody, watch: SilenceWatch): HttpBody {
  return {
    async read(take) {
      watch.begin();
      try {
        await body.read((piece) => {
          watch.pause();
          watch.received(piece.length);
          if (take(piece)) return true;
          watch.begin();
          return false;
        });
      } finally {
        watch.end();
      }
    },
    async cancel() {
      watch.end();
      await body.cancel();
    },
  };
}

/** Returns the bytes of a range with both ends; 0 for others. */
function rangeBytes(header = ""): number {
  const [, first = "", last = ""] = /^bytes=(\d+)-(\d+)$/.exec(header) ?? [];
  return last === "" ? 0 : Number(last) + 1 - Number(first);
}

function sizeOf(body: RequestInit["body"]): number {
  if (typeof body === "string") return body.length;
  return body instanceof Uint8Array ? body.length : 0;
}
