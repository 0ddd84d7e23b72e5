import type { Difference } from "../../flows/diff.ts";
import { formatShape, printable } from "../../flows/text/format.ts";
import type { ValidateFinding } from "../../flows/validate.ts";
import { readDouble } from "../../meta/conventions/missing-values.ts";
import { counted, grouped } from "../../util/names.ts";
import { toJson } from "./results.ts";

/** A finding as a line; `name` stands for a node without a path. */
export function findingText(finding: ValidateFinding, name: string): string {
  const { level, path, key, count, pointer, message, notFixed } = finding;
  const place = [
    printable(path || name),
    key !== undefined &&
      `(key ${printable(key)}${count === undefined ? "" : ` and ${grouped(count - 1)} more`})`,
    pointer && `at ${printable(pointer)}`,
  ];
  return `${level.padEnd(7)}  ${place.filter(Boolean).join(" ")}: ${printable(message)}${notFixed === undefined ? "" : `; not fixed: ${printable(notFixed)}`}\n`;
}

/** A line with the number of findings of each level. */
export function findingSummary(levels: readonly ValidateFinding["level"][]): string {
  const count = (level: ValidateFinding["level"]) => levels.filter((one) => one === level).length;
  if (levels.length === 0) return "no findings";
  return `${counted(count("error"), "error")}, ${counted(count("warning"), "warning")}, ${counted(count("info"), "note")}`;
}

const VALUE_WIDTH = 60;

/** A difference as a line; `name` stands for a node without a path. */
export function differenceText(
  { path, what, counts, a, b, pointer, values }: Difference,
  name: string,
): string {
  const node = printable(path || name);
  const note = counts ? "" : " (not counted)";
  if (what === "node")
    return `${node}: ${a === undefined ? `only in B: ${b}` : b === undefined ? `only in A: ${a}` : `${a} in A, ${b} in B`}\n`;
  if (what === "key") {
    const size = (of: unknown) => counted(Number(of), "byte");
    if (a === undefined || b === undefined)
      return `${node}: only in ${b === undefined ? "A" : "B"}: ${size(a ?? b)}\n`;
    return `${node}: contents differ: ${size(a)} -> ${size(b)}\n`;
  }
  if (what === "broken") return `${node}: not compared, because it cannot be read: ${reasons(a, b)}\n`;
  if (what === "stored bytes")
    return `${node}: stored bytes differ, but cannot be decoded here: ${reasons(a, b)}\n`;
  if (values) {
    const { count, items, first, region } = values;
    return (
      `${node}: ${grouped(count)} of ${grouped(items)} items differ, the first at ${formatShape(first)}: ${short(a)} -> ${short(b)}` +
      `, in the chunk of ${formatShape(region.shape)} at ${formatShape(region.start)}\n`
    );
  }
  const subject = pointer === undefined ? what : `${what} ${printable(pointer)}`;
  const text = pointer === "/attributes/_FillValue" ? missingText : short;
  return `${node}: ${subject}: ${text(a)} -> ${text(b)}${note}\n`;
}

/** The reasons why A, B or both cannot be read. A side that can be read is left out. */
function reasons(a: unknown, b: unknown): string {
  const whole = (value: unknown) => printable(typeof value === "string" ? value : toJson(value));
  if (a === b) return whole(a);
  const sides = [
    { name: "A", is: a },
    { name: "B", is: b },
  ];
  const found = sides.filter(({ is }) => is !== undefined && is !== "array" && is !== "group");
  return found.map(({ name, is }) => `${name}: ${whole(is)}`).join("; ");
}

export interface DifferenceCounts {
  readonly counting: number;
  /** Differences that do not count. */
  readonly others: number;
  /** Nodes and keys that could not be compared. */
  readonly broken: number;
}

/** A line with the number of differences. */
export function diffSummary({ counting, others, broken }: DifferenceCounts): string {
  const notes = [
    others > 0 && `; ${grouped(others)} in storage only`,
    broken > 0 && `; ${grouped(broken)} not compared`,
  ]
    .filter(Boolean)
    .join("");
  if (counting === 0) return `no differences${notes}`;
  return `${grouped(counting)} ${counting === 1 ? "difference" : "differences"}${notes}`;
}

/** The attribute `_FillValue`, which xarray writes in v3 as Base64 of doubles. */
function missingText(value: unknown): string {
  const numbers = [value].flat().map(readDouble);
  if (numbers.length === 0 || numbers.includes(undefined)) return short(value);
  const number = numbers.length === 1 ? String(numbers[0]) : `[${numbers.join(", ")}]`;
  return `${number} (as xarray encodes it)`;
}

function short(value: unknown): string {
  if (value === undefined) return "none";
  const text = printable(typeof value === "string" ? value : toJson(value));
  return text.length > VALUE_WIDTH ? `${text.slice(0, VALUE_WIDTH - 1)}…` : text;
}
