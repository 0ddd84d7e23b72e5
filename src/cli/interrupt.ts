import { EXIT_CODES } from "../util/errors.ts";

/** Milliseconds that resumable work has to finish after the first signal. */
const GRACE_MS = 5000;

/** The reason for an abort: the user or the system sent a signal. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly by: NodeJS.Signals;

  constructor(by: NodeJS.Signals) {
    super(`interrupted by ${by}`);
    this.by = by;
  }
}

/** The handling of SIGINT, SIGTERM and SIGHUP. The process exits immediately on the second signal. */
export interface Interrupts {
  /** Aborted when work must stop and clean up: on the first signal, or after the grace period if one was requested. */
  readonly signal: AbortSignal;
  /** The first signal received. */
  readonly interruption: Interruption | undefined;
  /** Requests a grace period of 5 seconds to end resumable work in. The result is aborted on the first signal. */
  stopFirst(): AbortSignal;
}

export function listenToInterrupts(): Interrupts {
  const abort = new AbortController();
  const stop = new AbortController();
  let interruption: Interruption | undefined;
  let isPatient = false;
  const interrupt = (by: NodeJS.Signals) => {
    if (interruption) process.exit(EXIT_CODES.aborted);
    interruption = new Interruption(by);
    stop.abort(interruption);
    if (isPatient) setTimeout(() => abort.abort(interruption), GRACE_MS).unref();
    else abort.abort(interruption);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, interrupt);
  return {
    signal: abort.signal,
    get interruption() {
      return interruption;
    },
    stopFirst() {
      isPatient = true;
      return stop.signal;
    },
  };
}
