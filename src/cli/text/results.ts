import type { AppendReport } from "../../flows/append.ts";
import { type ArrayTree, CellGrid, type DigestTree } from "../../flows/digest/tree-hash.ts";
import type { PyramidReport } from "../../flows/pyramid.ts";
import { columns, formatDuration, formatShape, printable, printableJson } from "../../flows/text/format.ts";
import { fromPlain } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import { counted } from "../../util/names.ts";
import { formatBytes } from "../../util/units.ts";

interface ReportWords {
  readonly dryRun: boolean;
  /** Memory of the process, in bytes. */
  readonly peak: number;
}

/** Describes an append that was done or would be done: a line for each array that grows. */
export function appendText(
  { arrays, equal, seconds, peakBuffers }: AppendReport,
  target: string,
  { dryRun, peak }: ReportWords,
): string {
  const rows = arrays.map(({ path, dataType, dimensionNames, before, shape, newChunks, rewrittenChunks }) => [
    printable(path || "(array)"),
    dataType,
    `${printable(formatShape(before, dimensionNames))} -> ${formatShape(shape)}`,
    `${counted(newChunks, "new chunk")}, ${rewrittenChunks} rewritten`,
  ]);
  const others = equal.length === 0 ? "" : `; ${counted(equal.length, "other array")} equal`;
  const end = dryRun
    ? `nothing was written (--dry-run)${others}`
    : `${counted(arrays.length, "array")} appended in ${formatDuration(seconds)}${others}\n` +
      `memory: at most ${formatBytes(peakBuffers)} in buffers, ${formatBytes(peak)} in the whole process`;
  return `${printable(target)}:\n${columns(rows)}\n${end}`;
}

const UNKNOWN = "-".padEnd(64);

/** The lines of a tree: digest and name of each array, then of the whole. `name` stands for the node without a path. */
export function* treeDigestLines(
  { sha256, arrays }: DigestTree,
  { name, withCells }: { readonly name: string; readonly withCells: boolean | undefined },
): Generator<string> {
  for (const array of arrays) {
    const label = printable(array.path || name);
    yield `${array.sha256 ?? UNKNOWN}  ${label}${array.sha256 === undefined ? missing(array) : ""}\n`;
    if (withCells) yield* cellLines(array, label);
  }
  const isArray = arrays.length === 1 && arrays[0]?.path === "";
  if (!isArray) yield `${sha256 ?? UNKNOWN}  ${printable(name)}\n`;
}

function missing({ shape, cellShape, cells = [] }: ArrayTree): string {
  const known = cells.reduce((all, run) => all + run.sha256.length, 0);
  return `  (${known} of ${counted(new CellGrid(shape, cellShape).count, "cell")})`;
}

/** The lines of an array's cells, with ranges as `--slice` takes them. */
function* cellLines({ shape, cellShape, cells = [] }: ArrayTree, label: string): Generator<string> {
  const grid = new CellGrid(shape, cellShape);
  for (const { first, sha256 } of cells) {
    for (const [i, hash] of sha256.entries()) {
      const { start, shape: extent } = grid.regionOf(first + i);
      const ranges = start.map((at, d) => `${at}:${at + (extent[d] ?? 0)}`);
      yield `${hash}  ${label}[${ranges.join()}]\n`;
    }
  }
}

/** Describes a pyramid that was or would be written: its levels and arrays, and their windows in memory. */
export function pyramidText(
  { convention, method, spatial, levels, arrays, seconds, peakBuffers, skipped }: PyramidReport,
  target: string,
  { dryRun, peak }: ReportWords,
): string {
  if (skipped) return `${printable(target)}: exists and was kept`;
  const scales = levels.map(({ path, scale }) => [
    `level ${path}`,
    printable(scale.map((n, d) => `${spatial[d]} 1/${n}`).join(", ")),
  ]);
  const rows = arrays.flatMap(
    ({ name, dataType, method: own, reason, shapes, window, levelsInWindow, leaseBytes = 0 }) => {
      const shrinks = own
        ? `${own} (${reason}) ${shapes.map((shape) => formatShape(shape)).join(" -> ")}`
        : "copied unchanged into each level";
      const made = `${counted(levelsInWindow ?? 0, "level")} in windows of ${formatShape(window ?? [])}`;
      const above = (levelsInWindow ?? 0) < shapes.length ? ", the others assembled from their blocks" : "";
      const first = [printable(name || "(array)"), dataType, shrinks];
      return window && dryRun
        ? [first, ["", "", `${made}${above}: ${formatBytes(leaseBytes)} of memory`]]
        : [first];
    },
  );
  const end = dryRun
    ? "nothing was written (--dry-run)"
    : `${counted(levels.length, "level")} in ${formatDuration(seconds)}\n` +
      `memory: at most ${formatBytes(peakBuffers)} in buffers, ${formatBytes(peak)} in the whole process`;
  return `${printable(target)}: ${convention}, ${method}\n${columns(scales)}\n${columns(rows)}\n${end}`;
}

/**
 * A value as strict JSON. Bigints keep all digits, non-finite numbers become null, and control characters are escaped.
 */
export function toJson(value: unknown, indent = 0): string {
  return printableJson(writeJson(fromPlain(value), { indent, nonFinite: "null" }));
}

/**
 * Writes values to standard output as one JSON list, each on its own line as soon as it is known. If the values fail,
 * the list ends after those that are known.
 */
export async function writeJsonList(
  values: AsyncIterable<unknown>,
  { write }: { readonly write: (text: string) => Promise<void> },
): Promise<void> {
  let separator = "[\n";
  let isWriting = false;
  try {
    for await (const value of values) {
      isWriting = true;
      await write(separator + toJson(value));
      isWriting = false;
      separator = ",\n";
    }
  } catch (error) {
    if (!isWriting && separator !== "[\n") await write("\n]\n");
    throw error;
  }
  await write(separator === "[\n" ? "[]\n" : "\n]\n");
}
