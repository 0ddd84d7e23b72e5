import { EXIT_CODES } from "../util/errors.ts";

/** Milliseconds in which work that can be resumed comes to an end. */
const GRACE_MS = 5000;

/** Why work was stopped: the user, or the system, sent a signal. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly by: NodeJS.Signals;

  constructor(by: NodeJS.Signals) {
    super(`interrupted by ${by}`);
    this.by = by;
  }
}

/** What SIGINT, SIGTERM and SIGHUP do. At the second one the process exits at once. */
export interface Interrupts {
  /** Aborted when work has to stop and clean up: at the first one, or after the time that was asked for. */
  readonly signal: AbortSignal;
  /** The first one. */
  readonly interruption: Interruption | undefined;
  /** Asks for 5 seconds in which work may end so that it can be resumed: aborted at the first one. */
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
