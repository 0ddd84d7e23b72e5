import {
  type Abortable,
  abortError,
  onAbort,
  platformSignal,
  RequestEnd,
  throwIfAborted,
} from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { HttpBody, HttpResponse, PlainFetch } from "../http/http-response.ts";
import type { RequestHook } from "./private-access.ts";
import { emitRetry } from "./retry-requests.ts";

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
    const lateRequests = isRead && attempt < MOST_ATTEMPTS ? lateRequestsTo(url) : undefined;
    const watch = new SilenceWatch({ origin, silence, caller, linger, lateRequests, attempt, bytes });
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

/** Fraction of responses that arrive within the usual time. */
const USUAL_PART = 0.95;
/**
 * Fraction by which a slower response raises the usual time. Faster ones lower it by less, so that it settles at
 * `USUAL_PART`.
 */
const STEP = 0.1;
/** Responses after which the usual time is known, and the time allowed until then. */
const ENOUGH = 16;
const UNKNOWN_MS = 3000;
/** A request is late after this many times the usual time, but not before this many milliseconds. */
const TIMES = 3;
const LEAST_MS = 250;
/** Bytes a millisecond that extend this time for a large range, which the server may have to fetch first. */
const SLOWEST_RATE = 1000;
/** Retries of late requests that are allowed: at first, per response, and at most. */
const FIRST_SPARE = 4;
const SPARE_OF_ANSWER = 0.05;
const MOST_SPARE = 16;
/** Milliseconds between checks for late requests. */
const LOOK_MS = 50;

/** Time allowed for a request. */
interface Wait {
  /** Multiple of the usual time. */
  readonly times: number;
  /** Bytes that the request reads. */
  readonly bytes: number;
}

/** A request in flight. */
interface Waiting extends Wait {
  readonly begun: number;
  readonly giveUp: (waited: number) => void;
}

/**
 * Detects late requests among those of one kind to one server: those that take several times as long as nearly all
 * others. At most about one in twenty counts as late, so that a slow server does not get all requests twice.
 */
export class LateRequests {
  #usual = 0;
  #answers = 0;
  #spare = FIRST_SPARE;
  readonly #waiting = new Set<Waiting>();
  #looksAt = 0;

  /**
   * Waits for a response until the returned function is called, with true if there was one. Calls `giveUp` once if
   * the response is late.
   */
  wait({ times, bytes }: Wait, giveUp: (waited: number) => void): (isAnswered: boolean) => void {
    const waiting = { begun: performance.now(), times, bytes, giveUp };
    this.#waiting.add(waiting);
    if (this.#waiting.size === 1 && this.#looksAt === 0) this.#lookLater();
    return (isAnswered) => {
      this.#waiting.delete(waiting);
      if (isAnswered) this.#answered(performance.now() - waiting.begun);
    };
  }

  #answered(milliseconds: number): void {
    if (this.#answers++ === 0) this.#usual = milliseconds;
    else if (milliseconds > this.#usual) this.#usual = Math.max(1, this.#usual) * (1 + STEP);
    else this.#usual *= 1 - (STEP * (1 - USUAL_PART)) / USUAL_PART;
    this.#spare = Math.min(MOST_SPARE, this.#spare + SPARE_OF_ANSWER);
  }

  #lookLater(): void {
    this.#looksAt = performance.now() + LOOK_MS;
    setTimeout(() => {
      // a thread that was busy has not processed all responses yet
      if (performance.now() < this.#looksAt + LOOK_MS) this.#look();
      this.#looksAt = 0;
      if (this.#waiting.size > 0) this.#lookLater();
    }, LOOK_MS);
  }

  #look(): void {
    const now = performance.now();
    const most = this.#answers < ENOUGH ? UNKNOWN_MS : Math.max(LEAST_MS, TIMES * this.#usual);
    for (const waiting of this.#waiting) {
      if (this.#spare < 1) return;
      if (now - waiting.begun < most * waiting.times + waiting.bytes / SLOWEST_RATE) continue;
      this.#spare--;
      this.#waiting.delete(waiting);
      waiting.giveUp(now - waiting.begun);
    }
  }
}

/** Maximum number of remembered servers. */
const MOST_SERVERS = 512;
const known = new Map<string, LateRequests>();

/**
 * Returns the detector for requests like that to `url`. A server has one for plain URLs and one for URLs with a
 * query, such as listings, whose response times differ.
 */
export function lateRequestsTo({ origin, search }: URL): LateRequests {
  const kind = search === "" ? origin : `${origin}?`;
  const lateRequests = known.get(kind);
  if (lateRequests) return lateRequests;
  if (known.size >= MOST_SERVERS) known.clear();
  const fresh = new LateRequests();
  known.set(kind, fresh);
  return fresh;
}

/** Maximum total time of all waits for a body, as a multiple of the longest silence. */
const MAX_BODY_WAITS = 10;
/** Bytes that extend that time by a second. */
const SLOWEST_BODY = 1024;

export interface WatchedRequest {
  readonly origin: string;
  /** Milliseconds for which the server may be silent. */
  readonly silence: number;
  readonly caller: Abortable | null | undefined;
  /** Milliseconds after which a request that its caller aborts is ended. */
  readonly linger: number;
  /** Detects a late response; undefined if the request is not retried for that. */
  readonly lateRequests: LateRequests | undefined;
  /** Number of this attempt. */
  readonly attempt: number;
  /** Bytes that are requested, if known. */
  readonly bytes: number;
}

/** Ends a request if its caller aborts it, its server is silent, or its response is late. */
export class SilenceWatch {
  readonly #request: WatchedRequest;
  readonly #end = new RequestEnd();
  readonly #stopListening: () => void;
  #late: ZarrflowError | undefined;
  #waited = 0;
  #received = 0;
  #began = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #endWait: ReturnType<LateRequests["wait"]> | undefined;
  #lingering: ReturnType<typeof setTimeout> | undefined;

  constructor(request: WatchedRequest) {
    this.#request = request;
    const { caller, linger } = request;
    throwIfAborted(caller);
    const abort = () => this.#end.abort(abortError(caller?.reason));
    this.#stopListening = onAbort(caller, () => {
      if (linger === 0) abort();
      else this.#lingering = setTimeout(abort, linger);
    });
  }

  get signal(): RequestEnd {
    return this.#end;
  }

  /** The error of a request that was ended because its response was late. */
  get late(): ZarrflowError | undefined {
    const { reason } = this.#end;
    return reason === this.#late ? this.#late : undefined;
  }

  /** Starts waiting for the response, `more` milliseconds longer than usual. */
  ask(more: number): void {
    this.begin(more);
    const { lateRequests, attempt, bytes } = this.#request;
    this.#endWait = lateRequests?.wait({ times: attempt, bytes }, (waited) => {
      this.#late = late(waited);
      this.#end.abort(this.#late);
    });
  }

  answered(): void {
    this.pause();
    this.#endWait?.(true);
    this.#endWait = undefined;
  }

  /** Starts waiting for data, `more` milliseconds longer than usual. */
  begin(more = 0): void {
    const { silence, origin } = this.#request;
    this.#began = performance.now();
    this.#timer = setTimeout(() => this.#end.abort(silent(silence, origin)), silence + more);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Records a piece of the body. @throws `transient` if the body takes too long. */
  received(bytes: number): void {
    this.#waited += performance.now() - this.#began;
    this.#received += bytes;
    const most = MAX_BODY_WAITS * this.#request.silence + (this.#received / SLOWEST_BODY) * 1000;
    if (this.#waited <= most) return;
    const error = slow(this.#received, this.#waited);
    this.#end.abort(error);
    throw error;
  }

  end(): void {
    this.pause();
    this.#endWait?.(false);
    clearTimeout(this.#lingering);
    this.#stopListening();
  }
}

function late(milliseconds: number): ZarrflowError {
  return new ZarrflowError("transient", "the response takes much longer than usual", {
    found: `nothing for ${(milliseconds / 1000).toFixed(2)} s`,
  });
}

function slow(bytes: number, milliseconds: number): ZarrflowError {
  return new ZarrflowError("transient", "the server sends too slowly", {
    expected: `${SLOWEST_BODY} bytes a second, or more`,
    found: `${bytes} bytes in ${Math.round(milliseconds / 1000)} s`,
    hint: "Try again when the server or the network is less busy.",
  });
}

function silent(milliseconds: number, origin: string): ZarrflowError {
  return new ZarrflowError("transient", "the server did not respond in time", {
    found: `nothing for ${milliseconds / 1000} s`,
    hint: `Check that ${origin} is running and reachable.`,
  });
}
