import type { ReadEvent } from "../../flows/events.ts";
import { printable } from "../../flows/text/printable.ts";
import { formatBytes } from "../../util/byte-size.ts";
import type { ProgressUpdate } from "./progress-update.ts";

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
