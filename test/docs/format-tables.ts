import type { Exception } from "../interop/exceptions.ts";
import type { Count, Tally } from "../interop/tally.ts";
import { FEATURES, type Feature, FORMATS, type Format } from "../interop/tally.ts";

const formats = Object.keys(FORMATS) as Format[];

/** Feature by format, as `right/all`. */
export function tallyTable(tally: Tally): string {
  const rows = FEATURES.filter((feature) => tally[feature]).map((feature) => [
    feature,
    ...formats.map((format) => shown(tally[feature]?.[format])),
    shown(sum(formats.map((format) => tally[feature]?.[format]))),
  ]);
  const ofFormat = (format: Format) => FEATURES.map((feature) => tally[feature]?.[format]);
  const total = ["all", ...formats.map((format) => shown(sum(ofFormat(format)))), shown(totalOf(tally))];
  return table(["", ...formats.map((format) => FORMATS[format]), "all"], [...rows, total]);
}

/** All cases together. */
export function totalOf(tally: Tally): Count {
  return sum(FEATURES.flatMap((feature: Feature) => formats.map((format) => tally[feature]?.[format])));
}

function sum(counts: readonly (Count | undefined)[]): Count {
  const add = (of: (count: Count) => number) => counts.reduce((n, count) => n + (count ? of(count) : 0), 0);
  return { right: add(({ right }) => right), all: add(({ all }) => all) };
}

function shown(count: Count | undefined): string {
  return count === undefined || count.all === 0 ? "" : `${count.right}/${count.all}`;
}

/** What another reader made of arrays before and after they were written anew. */
export interface ReaderCount {
  readonly originals: number;
  readonly rewritten: number;
  readonly all: number;
}

export function readersTable(counts: Readonly<Record<string, ReaderCount>>): string {
  const rows = Object.entries(counts).map(([reader, { originals, rewritten, all }]) =>
    [reader, originals, rewritten, all].map(String),
  );
  return table(["", "reads of the originals", "of the rewritten", "arrays"], rows);
}

export function exceptionList(exceptions: readonly Exception[]): string {
  return exceptions
    .map(({ what, gives, reason }) => `- ${what}${gives === "read" ? "" : ` (\`${gives}\`)`}: ${reason}.`)
    .join("\n");
}

/**
 * What a format cannot hold, by JSON pointer, of what `matrix`, the approved text of test/flows/format-matrix.test.ts,
 * tries; arrays that fare alike share a row.
 */
export function lossTable(matrix: string): string {
  const zarrFormats = ["v1", "v2", "v3-draft-2019", "v3"];
  const rows = new Map<string, string[]>();
  for (const [, name = "", lines = ""] of matrix.matchAll(/^(\S.*)\n((?: {2}.*\n)+)/gm)) {
    const outcomes =
      lines
        .match(/^ {2}v[23] -> .*$/m)?.[0]
        .replace(/^.*?-> /, "")
        .split(", ") ?? [];
    const cells = zarrFormats.map((zarrFormat) => {
      const outcome = outcomes.find((one) => one.startsWith(`${zarrFormat} `))?.slice(zarrFormat.length + 1);
      return outcome === "equal" ? "" : (outcome ?? "").split(" ").map(code).join(" ");
    });
    if (cells.every((cell) => cell === "")) continue;
    const key = cells.join("\n");
    rows.set(key, [...(rows.get(key) ?? []), name.replace(/^"([^"]*)"/, "$1")]);
  }
  return table(
    ["an array of", ...zarrFormats],
    [...rows].map(([cells, names]) => [names.map(code).join(", "), ...cells.split("\n")]),
  );
}

function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

/** Wider cells stand out, rather than all others be padded. */
const MAX_WIDTH = 48;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widest = (i: number) => Math.max(...[head, ...rows].map((cells) => cells[i]?.length ?? 0), 3);
  const widths = head.map((_, i) => Math.min(widest(i), MAX_WIDTH));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
