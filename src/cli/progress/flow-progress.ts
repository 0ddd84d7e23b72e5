import type { ArrayProgress, FlowEvent, Progress } from "../../flows/events.ts";
import { grouped } from "../../flows/text/numbers.ts";
import { formatBytes } from "../../util/byte-size.ts";
import type { ProgressUpdate } from "./progress-update.ts";
import { bytesProgress } from "./read-progress.ts";

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
