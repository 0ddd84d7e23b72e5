import { counted, grouped } from "../../flows/text/numbers.ts";
import { printable } from "../../flows/text/printable.ts";
import type { ValidateFinding } from "../../flows/validate.ts";

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
