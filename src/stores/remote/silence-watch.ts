import { type Abortable, abortError, onAbort, RequestEnd, throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { Patience } from "./patience.ts";

/** Maximum total time of all waits for a body, as a multiple of the longest silence. */
const PATIENCE = 10;
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
  readonly patience: Patience | undefined;
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
  #endWait: ReturnType<Patience["wait"]> | undefined;
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
    const { patience, attempt, bytes } = this.#request;
    this.#endWait = patience?.wait({ times: attempt, bytes }, (waited) => {
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
    const most = PATIENCE * this.#request.silence + (this.#received / SLOWEST_BODY) * 1000;
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
  return new ZarrflowError("transient", "the response is much later than usual", {
    found: `nothing for ${(milliseconds / 1000).toFixed(2)} s`,
  });
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
