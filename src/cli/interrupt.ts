import { EXIT_CODES } from "../util/errors.ts";

/** Why work was stopped: the user, or the system, sent a signal. */
export class Interruption extends Error {
  override readonly name = "Interruption";
}

/**
 * A signal that aborts at the first SIGINT, SIGTERM or SIGHUP, so that work stops and cleans up; at the second one
 * the process exits at once.
 */
export function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController();
  const interrupt = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(EXIT_CODES.aborted);
    controller.abort(new Interruption(`interrupted by ${name}`));
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, interrupt);
  return controller.signal;
}
