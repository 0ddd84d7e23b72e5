import { formatDuration, printable } from "../../flows/text/format.ts";
import { warningLine } from "../../flows/text/plan.ts";
import type { Warning } from "../../plan/warnings.ts";
import type { ArrayProgress, FlowEvent, Progress, ReadEvent, WarningEvent } from "../../run/events.ts";
import type { Retry } from "../../stores/remote/retry-requests.ts";
import { grouped } from "../../util/names.ts";
import { withFlagAlone } from "../../util/options.ts";
import { formatBytes } from "../../util/units.ts";
import type { Terminal } from "../terminal.ts";
import type { ProgressUpdate } from "./view.ts";

/** Maximum number of arrays below the bar: the unfinished ones that advanced last. */
const MAX_LINES = 4;

/** Returns a function that turns the events of a run into progress; undefined for events without progress. */
export function eventAdvance(): (event: FlowEvent) => ProgressUpdate | undefined {
  const arrays = new ArrayLines();
  let latest: ProgressUpdate = { bytes: 0, words: [] };
  return (event) => {
    if (event.type === "progress") latest = runProgress(event.progress, arrays);
    else if (event.type === "verify") latest = { bytes: latest.bytes, words: readBack(event) };
    else if (event.type === "read") latest = { bytes: latest.bytes, words: compared(event) };
    else return undefined;
    return latest;
  };
}

/** Progress by the bytes of completed items, over all arrays. */
function runProgress(progress: Progress, lines: ArrayLines): ProgressUpdate {
  const { totals, bytesDone, arraysDone, bytesRead, bytesWritten } = progress;
  return {
    fraction: totals.bytes > 0 ? Math.min(1, bytesDone / totals.bytes) : undefined,
    bytes: bytesRead + bytesWritten,
    words: [
      `${formatBytes(bytesRead)} in`,
      `${formatBytes(bytesWritten)} out`,
      totals.arrays > 1
        ? `${grouped(arraysDone)}/${grouped(totals.arrays)} arrays`
        : `${formatBytes(bytesDone)} of ${formatBytes(totals.bytes)}`,
    ],
    ...(totals.arrays > 1 && { lines: lines.with(progress.arrays) }),
  };
}

/** A line for each of a few arrays in progress. A line keeps its place while it is shown. */
class ArrayLines {
  #shown: ArrayProgress[] = [];

  with(latest: readonly ArrayProgress[]): readonly string[] {
    const byPath = new Map(latest.map((array) => [array.path, array]));
    const kept = this.#shown.map((array) => byPath.get(array.path) ?? array).filter(isUndone);
    const added = latest.filter(({ path }) => !kept.some((array) => array.path === path)).filter(isUndone);
    this.#shown = [...kept, ...added].slice(-MAX_LINES);
    return this.#shown.map(({ path, bytesDone, bytes }) => {
      const percent = `${Math.floor((100 * bytesDone) / bytes)}%`.padStart(6);
      return `${percent}  ${path}  ${formatBytes(bytesDone)} of ${formatBytes(bytes)}`;
    });
  }
}

function isUndone({ bytesDone, bytes }: ArrayProgress): boolean {
  return bytesDone < bytes;
}

function readBack({ keys, allKeys }: Extract<FlowEvent, { type: "verify" }>): string[] {
  return ["reading back", `${grouped(keys)}/${grouped(allKeys)} keys`];
}

function compared({ path, bytes, allBytes }: Extract<FlowEvent, { type: "read" }>): string[] {
  return ["comparing values", path, ...bytesProgress(bytes, allBytes).words].filter(Boolean);
}

/** Shows the progress of reading arrays: the bytes of the current array, the rate over all of them. */
export function readProgress(show: (advance: ProgressUpdate) => void): (event: ReadEvent) => void {
  const bytesByPath = new Map<string, number>();
  let bytes = 0;
  return (event) => {
    bytes += event.bytes - (bytesByPath.get(event.path) ?? 0);
    bytesByPath.set(event.path, event.bytes);
    const { words } = bytesProgress(event.bytes, event.allBytes);
    show({ bytes, words: [printable(event.path), ...words].filter(Boolean) });
  };
}

/** Progress by bytes, with the fraction of `total` if it is known. */
export function bytesProgress(bytes: number, total: number | undefined): ProgressUpdate {
  if (total === undefined || total === 0) return { bytes, words: [formatBytes(bytes)] };
  return {
    fraction: Math.min(1, bytes / total),
    bytes,
    words: [`${formatBytes(bytes)} of ${formatBytes(total)}`],
  };
}

/** Minimum milliseconds between two lines. */
const INTERVAL_MS = 1000;

/** Prints retried requests, at most one line per second. */
export class RetryLog {
  readonly #printLine: (line: string) => void;
  #count = 0;
  #printed = Number.NEGATIVE_INFINITY;

  constructor(printLine: (line: string) => void) {
    this.#printLine = printLine;
  }

  note(retry: Retry): void {
    this.#count++;
    const now = performance.now();
    if (now - this.#printed < INTERVAL_MS) return;
    this.#printed = now;
    this.#printLine(retryText(retry, this.#count));
  }
}

/** A line for a request that will be retried; `count` is the number of retries so far. */
export function retryText({ store, operation, key, error, attempt, wait }: Retry, count: number): string {
  const { reason, details } = error;
  const found = details.found === undefined ? "" : ` (${details.found})`;
  const what = [operation, key].filter(Boolean).join(" ");
  const times = attempt === 1 ? "" : `, attempt ${attempt}`;
  const doing = wait === 0 ? "retrying" : `waiting ${formatDuration(wait / 1000)}`;
  return printable(`${doing}: ${what} in ${store}: ${reason}${found}${times}; ${count} so far`);
}

/** A warning as a line that names flags instead of options. */
export function warningText(warning: Warning): string {
  return warningLine({ ...warning, message: withFlagAlone(warning.message, warning.option) });
}

/** Returns a listener that prints warnings, unless they are off, and passes all other events on. */
export function printWarnings(
  { printLine }: Terminal,
  { "no-warnings": noWarnings }: { readonly "no-warnings"?: boolean | undefined },
  onEvent: (event: ReadEvent) => void = () => {},
): (event: ReadEvent | WarningEvent) => void {
  return (event) => {
    if (event.type !== "warning") onEvent(event);
    else if (!noWarnings) printLine(warningText(event));
  };
}
