import { printableLines } from "../flows/text/printable.ts";
import { fileError } from "../stores/files/file-error.ts";
import { redact } from "../util/redact.ts";
import type { Interrupts } from "./interrupt.ts";
import { COLORED_NAME } from "./text/failure.ts";

/** Where a command speaks: data on standard output, words for people on standard error. */
export interface Terminal {
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
  readonly interrupts: Interrupts;
  /** Whether people read standard output. */
  readonly isOutputSeen: boolean;
  readonly errors: NodeJS.WriteStream;
  /**
   * Writes bytes as they are, or a text that does nothing to a terminal; resolves when more can be taken.
   *
   * @throws `ClosedPipe` when nobody reads any more.
   */
  write(data: string | Uint8Array): Promise<void>;
  /** Prints a line, or several, on standard error; what would act on a terminal is escaped. */
  printLine(line: string): void;
  /** The exit code where all work was done, but what it found is not what was hoped for. */
  endWith(exitCode: number): void;
}

/** Standard output was closed by its reader: no failure, only the end of the work. */
export class ClosedPipe extends Error {
  override readonly name = "ClosedPipe";
}

/** What takes progress from the terminal, before a line is printed, while it is drawn there. */
export const drawn = { clear: "" };

/** The process's own terminal. */
export function openTerminal(interrupts: Interrupts): Terminal {
  const { signal } = interrupts;
  const { stdout, stderr } = process;
  // Whoever waits for a write gets its failure; nobody waits for what goes to standard error.
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

/** Words for people: one color of ours, and nothing else that acts. */
function shown(text: string): string {
  const [start, rest] = text.startsWith(COLORED_NAME)
    ? [COLORED_NAME, text.slice(COLORED_NAME.length)]
    : ["", text];
  return start + printableLines(rest);
}

/** One write; an abort ends the wait for a reader that has stopped reading. */
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

/** Why a write to standard output failed. */
export function writeFailure(error: NodeJS.ErrnoException): unknown {
  if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") return new ClosedPipe();
  return fileError(error, { store: "standard output" });
}
