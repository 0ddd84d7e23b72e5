import { platformSignal } from "../../util/abort.ts";
import type { HttpBody, HttpResponse, PlainFetch } from "../http/http-response.ts";
import { patienceWith } from "./patience.ts";
import type { RequestHook } from "./private-access.ts";
import { emitRetry } from "./retry-events.ts";
import { SilenceWatch } from "./silence-watch.ts";

/** How often a request is made at most that is late. */
const MOST_ATTEMPTS = 3;
/** What takes long to answer, and much to answer twice, is not asked for again for being late: a range of more bytes. */
const LARGE_RANGE = 2 ** 20;
/** Bytes a second of a body that is sent; the server did not respond in time while it takes them. */
const SLOWEST_UPLOAD = 64 * 1024;

export interface TimedRequest {
  /** Milliseconds for which the server may be silent. */
  readonly silence: number;
  /** Milliseconds after which a request that its caller gives up is ended. @default 0 */
  readonly linger?: number;
  /** Called before the request is made again. */
  readonly beforeRequest?: RequestHook | undefined;
}

/**
 * As `fetch`, but fails when the server did not respond in time for `silence` milliseconds: before its answer, or before
 * the next piece of the body; or when all waits for a body take ten times as long, and it sends less than 1 KiB a second.
 * For a body that is sent it may be silent for as long as a slow connection takes. A request that changes something is to
 * linger: it should have been answered when it is ended, since what has been sent may be carried out after what the
 * caller does next. One that reads is given up and made again, up to twice, where its answer is much later than those of
 * its server usually are; `silence` is of all together.
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

/** @param more milliseconds for which the server may be silent beyond what is usual */
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

/** The same body, whose pieces are watched while it is read. */
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

/** Bytes of a range with both ends; 0 for others. */
function rangeBytes(header = ""): number {
  const [, first = "", last = ""] = /^bytes=(\d+)-(\d+)$/.exec(header) ?? [];
  return last === "" ? 0 : Number(last) + 1 - Number(first);
}

function sizeOf(body: RequestInit["body"]): number {
  if (typeof body === "string") return body.length;
  return body instanceof Uint8Array ? body.length : 0;
}
