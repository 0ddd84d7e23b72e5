import { printableLines } from "../flows/text/format.ts";
import { fileError } from "../stores/files/file-error.ts";
import { EXIT_CODES } from "../util/errors.ts";
import { redact } from "../util/redact.ts";
import { COLORED_NAME } from "./text/failure.ts";

/** The output of a command: data on standard output, messages for people on standard error. */
export interface Terminal {
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
  readonly interrupts: Interrupts;
  /** True if standard output is a terminal. */
  readonly isOutputSeen: boolean;
  readonly errors: NodeJS.WriteStream;
  /**
   * Writes bytes unchanged, or text with control characters escaped. Resolves when more can be written.
   *
   * @throws `ClosedPipe` when the reader is gone.
   */
  write(data: string | Uint8Array): Promise<void>;
  /** Prints one or several lines on standard error, with control characters escaped. */
  printLine(line: string): void;
  /** Sets the exit code of a command that did all its work, but found problems. */
  endWith(exitCode: number): void;
}

/** The reader closed standard output. Not a failure: the work just ends. */
export class ClosedPipe extends Error {
  override readonly name = "ClosedPipe";
}

/** The text that erases the progress from the terminal before a line is printed; empty while none is drawn. */
export const drawn = { clear: "" };

/** Returns the process's own terminal. */
export function openTerminal(interrupts: Interrupts): Terminal {
  const { signal } = interrupts;
  const { stdout, stderr } = process;
  // A failed write is reported to whoever waits for it; nobody waits for writes to standard error.
  stdout.on("error", () => {});
  stderr.on("error", () => {});
  return {
    signal,
    interrupts,
    isOutputSeen: stdout.isTTY === true,
    errors: stderr,
    write: (data) => writeTo(stdout, typeof data === "string" ? shown(data) : data, signal),
    printLine: (line) => {
      stderr.write(`${drawn.clear}${shown(redact(line))}\n`);
    },
    endWith: (exitCode) => {
      process.exitCode = exitCode;
    },
  };
}

/** The text as a terminal may show it: our colored prefix is kept, all other control characters are escaped. */
function shown(text: string): string {
  const [start, rest] = text.startsWith(COLORED_NAME)
    ? [COLORED_NAME, text.slice(COLORED_NAME.length)]
    : ["", text];
  return start + printableLines(rest);
}

/** Writes once. An abort ends the wait for a reader that has stopped reading. */
function writeTo(stream: NodeJS.WriteStream, data: string | Uint8Array, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    stream.write(data, (error) => {
      signal.removeEventListener("abort", stop);
      if (error) reject(writeFailure(error));
      else resolve();
    });
  });
}

/** The error for a failed write to standard output. */
export function writeFailure(error: NodeJS.ErrnoException): unknown {
  if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") return new ClosedPipe();
  return fileError(error, { store: "standard output" });
}

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
