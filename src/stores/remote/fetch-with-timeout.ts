import { abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { HttpBody, HttpResponse, PlainFetch } from "../http/http-response.ts";

/** Bytes a second of a body that is sent; the server did not respond in time while it takes them. */
const SLOWEST_UPLOAD = 64 * 1024;

/** How many times the longest silence all waits for a body may take together, */
const PATIENCE = 10;
/** and the bytes that a server has to send for each second more. */
const SLOWEST_BODY = 1024;

/**
 * As `fetch`, but fails when the server did not respond in time for `silence` milliseconds: before its answer, or before the next
 * piece of the body; or when all waits for a body take ten times as long, and it sends less than 1 KiB a second. For a body that is sent it may be silent for as long as a slow connection takes.
 * A request that its caller gives up is ended `linger` milliseconds later: one that changes something should have been
 * answered by then, since what has been sent may be carried out after what the caller does next.
 *
 * @throws `transient` on silence, also while the body is read; `aborted`.
 */
export async function fetchWithTimeout(
  fetch: PlainFetch,
  url: URL,
  init: Parameters<PlainFetch>[1],
  silence: number,
  linger = 0,
): Promise<HttpResponse> {
  const watch = new SilenceWatch(silence, url.origin, { caller: init.signal, linger });
  try {
    watch.begin((sizeOf(init.body) / SLOWEST_UPLOAD) * 1000);
    const response = await fetch(url, { ...init, signal: watch.signal });
    watch.pause();
    const { ok, status, statusText, headers, type, body } = response;
    if (body === null) watch.end();
    return { ok, status, statusText, headers, type, body: body && watched(body, watch) };
  } catch (error) {
    watch.end();
    throw error;
  }
}

/** Ends a request that its caller has given up, or whose server is silent. */
class SilenceWatch {
  readonly #request = new AbortController();
  readonly #silence: number;
  readonly #origin: string;
  readonly #stopListening: () => void;
  #waited = 0;
  #received = 0;
  #began = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lingering: ReturnType<typeof setTimeout> | undefined;

  constructor(
    silence: number,
    origin: string,
    { caller, linger }: { readonly caller: AbortSignal | null | undefined; readonly linger: number },
  ) {
    this.#silence = silence;
    this.#origin = origin;
    throwIfAborted(caller);
    const abort = () => this.#request.abort(abortError(caller?.reason));
    this.#stopListening = onAbort(caller, () => {
      if (linger === 0) abort();
      else this.#lingering = setTimeout(abort, linger);
    });
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** The server is to speak now; `more` milliseconds later than usual. */
  begin(more = 0): void {
    this.#began = performance.now();
    this.#timer = setTimeout(
      () => this.#request.abort(silent(this.#silence, this.#origin)),
      this.#silence + more,
    );
  }

  pause(): void {
    clearTimeout(this.#timer);
  }

  /** A piece of the body has come. @throws `transient` when the whole of it takes too long. */
  received(bytes: number): void {
    this.#waited += performance.now() - this.#began;
    this.#received += bytes;
    const most = PATIENCE * this.#silence + (this.#received / SLOWEST_BODY) * 1000;
    if (this.#waited <= most) return;
    const error = slow(this.#received, this.#waited);
    this.#request.abort(error);
    throw error;
  }

  end(): void {
    this.pause();
    clearTimeout(this.#lingering);
    this.#stopListening();
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

function sizeOf(body: RequestInit["body"]): number {
  if (typeof body === "string") return body.length;
  return body instanceof Uint8Array ? body.length : 0;
}

function slow(bytes: number, milliseconds: number): ZarrflowError {
  return new ZarrflowError("transient", "the server sends too slowly", {
    expected: `${SLOWEST_BODY} bytes a second, or more`,
    found: `${bytes} bytes in ${Math.round(milliseconds / 1000)} s`,
    hint: "Try again when the server or the connection is less busy.",
  });
}

function silent(milliseconds: number, origin: string): ZarrflowError {
  return new ZarrflowError("transient", "the server did not respond in time", {
    found: `nothing for ${milliseconds / 1000} s`,
    hint: `Check that ${origin} is running and can be reached.`,
  });
}
