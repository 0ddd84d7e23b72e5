import { formatBytes } from "../../util/byte-size.ts";
import type { ProgressUpdate } from "./progress-update.ts";

/** How far a file is that will have `total` bytes, where that is known. */
export function bytesProgress(bytes: number, total: number | undefined): ProgressUpdate {
  if (total === undefined || total === 0) return { bytes, words: [formatBytes(bytes)] };
  return {
    fraction: Math.min(1, bytes / total),
    bytes,
    words: [`${formatBytes(bytes)} of ${formatBytes(total)}`],
  };
}
