import type { PyramidReport } from "../../flows/pyramid.ts";
import { columns } from "../../flows/text/columns.ts";
import { counted, formatDuration, formatShape } from "../../flows/text/numbers.ts";
import { printable } from "../../flows/text/printable.ts";
import { formatBytes } from "../../util/byte-size.ts";

interface PyramidWords {
  readonly dryRun: boolean;
  /** Memory of the process, in bytes. */
  readonly peak: number;
}

/** Describes a pyramid that was or would be written: its levels and arrays, and their windows in memory. */
export function pyramidText(
  { convention, method, spatial, levels, arrays, seconds, peakBuffers, skipped }: PyramidReport,
  target: string,
  { dryRun, peak }: PyramidWords,
): string {
  if (skipped) return `${printable(target)}: exists and is kept`;
  const scales = levels.map(({ path, scale }) => [
    `level ${path}`,
    printable(scale.map((n, d) => `${spatial[d]} 1/${n}`).join(", ")),
  ]);
  const rows = arrays.flatMap(
    ({ name, dataType, method: own, reason, shapes, window, levelsInWindow, leaseBytes = 0 }) => {
      const shrinks = own
        ? `${own} (${reason}) ${shapes.map((shape) => formatShape(shape)).join(" -> ")}`
        : "as it is in each level";
      const made = `${counted(levelsInWindow ?? 0, "level")} in windows of ${formatShape(window ?? [])}`;
      const above = (levelsInWindow ?? 0) < shapes.length ? ", the others put together of their blocks" : "";
      const first = [printable(name || "(array)"), dataType, shrinks];
      return window && dryRun
        ? [first, ["", "", `${made}${above}: ${formatBytes(leaseBytes)} of memory`]]
        : [first];
    },
  );
  const end = dryRun
    ? "nothing is written (--dry-run)"
    : `${counted(levels.length, "level")} in ${formatDuration(seconds)}\n` +
      `memory: at most ${formatBytes(peakBuffers)} in buffers, ${formatBytes(peak)} the whole process`;
  return `${printable(target)}: ${convention}, ${method}\n${columns(scales)}\n${columns(rows)}\n${end}`;
}
