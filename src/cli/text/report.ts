import type { TakenItems } from "../../flows/request/labels/found-labels.ts";
import { formatDuration, formatShape, locationText, printable, takenText } from "../../flows/text/format.ts";
import type { Plan } from "../../plan/plan.ts";
import type { RunReport } from "../../run/events.ts";
import { counted, grouped } from "../../util/names.ts";
import { formatBytes } from "../../util/units.ts";

/** Summarizes a run; `peakMemory` is the process's peak, in bytes. */
export function reportText(
  report: RunReport,
  { plan: { target, budget }, taken = [] }: { readonly plan: Plan; readonly taken?: readonly TakenItems[] },
  peakMemory: number,
): string {
  if (report.skipped) return `${locationText(target.store, target.path)}: exists and was kept`;
  const {
    keysWritten,
    tasksResumed,
    keysResumed = 0,
    keysKept,
    keysDeleted = 0,
    keysVerified,
    arraysVerified,
    uncheckedEntries = 0,
    bytesRead,
    bytesWritten,
    seconds,
    peakBuffers,
  } = report;
  const rate = formatBytes((bytesRead + bytesWritten) / Math.max(seconds, 0.001));
  const updated =
    keysKept === undefined
      ? ""
      : `, ${counted(keysKept, "key")} up to date, ${counted(keysDeleted, "key")} deleted`;
  const resumed =
    tasksResumed === undefined
      ? ""
      : `, ${counted(tasksResumed, "task")} and ${counted(keysResumed, "key")} done before`;
  const verified = [
    keysVerified === undefined ? "" : `, ${counted(keysVerified, "key")} read back and verified`,
    arraysVerified === undefined ? "" : `, ${counted(arraysVerified, "array")} equal to the source`,
  ].join("");
  const partly =
    uncheckedEntries > 0
      ? [
          `${grouped(uncheckedEntries)} zip entries were read only in part, so their checksums were not checked`,
        ]
      : [];
  return [
    `${locationText(target.store, target.path)}: ${counted(keysWritten, "key")}, ${formatBytes(bytesWritten)}` +
      ` in ${formatDuration(seconds)} (${rate}/s read and written)${resumed}${updated}${verified}`,
    ...partly,
    `memory: at most ${formatBytes(peakBuffers)} of ${formatBytes(budget.maxMemory)} in buffers,` +
      ` ${formatBytes(peakMemory)} in the whole process`,
    ...(taken.length > 0 ? [takenText(taken)] : []),
  ].join("\n");
}

interface OutputReport {
  readonly output: string;
  readonly format: string;
  /** Set for a single array. */
  readonly shape?: readonly number[];
  /** Set for several arrays. */
  readonly arrays?: readonly { readonly name: string; readonly shape: readonly number[] }[];
  readonly bytes: number;
  readonly seconds: number;
  /** Peak memory of the process, in bytes. */
  readonly peakMemory: number;
  readonly taken: readonly TakenItems[];
}

/** Summarizes a file that was written. */
export function outputText({
  output,
  format,
  shape,
  arrays = [],
  bytes,
  seconds,
  peakMemory,
  taken,
}: OutputReport): string {
  const speed = `${formatBytes(bytes / Math.max(seconds, 0.001))}/s`;
  const shapes = arrays.map((array) => printable(`${array.name} ${formatShape(array.shape)}`));
  return (
    `${output}: ${format} of ${shape ? formatShape(shape) : shapes.join(", ")}, ${formatBytes(bytes)} in ${formatDuration(seconds)}` +
    ` (${speed}), ${formatBytes(peakMemory)} of memory` +
    (taken.length > 0 ? `\n${takenText(taken)}` : "")
  );
}
