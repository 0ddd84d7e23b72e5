import type { AppendReport } from "../../flows/append.ts";
import { columns } from "../../flows/text/columns.ts";
import { counted, formatDuration, formatShape } from "../../flows/text/numbers.ts";
import { printable } from "../../flows/text/printable.ts";
import { formatBytes } from "../../util/byte-size.ts";

interface AppendWords {
  readonly dryRun: boolean;
  /** Memory of the process, in bytes. */
  readonly peak: number;
}

/** Describes an append that was done or would be done: a line for each array that grows. */
export function appendText(
  { arrays, equal, seconds, peakBuffers }: AppendReport,
  target: string,
  { dryRun, peak }: AppendWords,
): string {
  const rows = arrays.map(({ path, dataType, dimensionNames, before, shape, newChunks, rewrittenChunks }) => [
    printable(path || "(array)"),
    dataType,
    `${printable(formatShape(before, dimensionNames))} -> ${formatShape(shape)}`,
    `${counted(newChunks, "new chunk")}, ${rewrittenChunks} written again`,
  ]);
  const others = equal.length === 0 ? "" : `; ${counted(equal.length, "other array")} equal`;
  const end = dryRun
    ? `nothing is written (--dry-run)${others}`
    : `${counted(arrays.length, "array")} appended in ${formatDuration(seconds)}${others}\n` +
      `memory: at most ${formatBytes(peakBuffers)} in buffers, ${formatBytes(peak)} the whole process`;
  return `${printable(target)}:\n${columns(rows)}\n${end}`;
}
