import { formatBytes } from "../../util/byte-size.ts";
import { formatDuration } from "./duration.ts";
import { formatShape } from "./shape.ts";

export interface OutputReport {
  readonly output: string;
  readonly format: string;
  readonly shape: readonly number[];
  readonly bytes: number;
  readonly seconds: number;
  /** Of the process, in bytes. */
  readonly peakMemory: number;
}

/** What was written to a file. */
export function outputText({ output, format, shape, bytes, seconds, peakMemory }: OutputReport): string {
  const speed = `${formatBytes(bytes / Math.max(seconds, 0.001))}/s`;
  return (
    `${output}: ${format} of ${formatShape(shape)}, ${formatBytes(bytes)} in ${formatDuration(seconds)}` +
    ` (${speed}), ${formatBytes(peakMemory)} of memory`
  );
}
