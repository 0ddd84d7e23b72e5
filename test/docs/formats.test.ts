import { describe, expect, test } from "vitest";
import { EXCEPTIONS, type Exception, WRITE_EXCEPTIONS } from "../interop/exceptions.ts";
import { type Count, FEATURES, type Feature, FORMATS, type Format, type Tally } from "../interop/tally.ts";
import { read } from "./code-block.ts";

const formats = Object.keys(FORMATS) as Format[];

/** Feature by format, as `right/all`. */
function tallyTable(tally: Tally): string {
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
function totalOf(tally: Tally): Count {
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
interface ReaderCount {
  readonly originals: number;
  readonly rewritten: number;
  readonly all: number;
}

function readersTable(counts: Readonly<Record<string, ReaderCount>>): string {
  const rows = Object.entries(counts).map(([reader, { originals, rewritten, all }]) =>
    [reader, originals, rewritten, all].map(String),
  );
  return table(["", "reads of the originals", "of the rewritten", "arrays"], rows);
}

function exceptionList(exceptions: readonly Exception[]): string {
  return exceptions
    .map(({ what, gives, reason }) => `- ${what}${gives === "read" ? "" : ` (\`${gives}\`)`}: ${reason}.`)
    .join("\n");
}

/**
 * What a format cannot hold, by JSON pointer, of what `matrix`, the approved text of test/flows/format-matrix.test.ts,
 * tries; arrays that fare alike share a row.
 */
function lossTable(matrix: string): string {
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

const PAGE = "docs/formats.md";

const approved = <T>(name: string): T => JSON.parse(read(`test/interop/approved/${name}.json`)) as T;
const readTally = approved<Tally>("read");
const writtenTally = approved<Tally>("written");

/** What stands between `<!-- NAME -->` and `<!-- end -->`, by name. */
const PARTS: Readonly<Record<string, string>> = {
  read: tallyTable(readTally),
  written: tallyTable(writtenTally),
  readers: readersTable(approved<Record<string, ReaderCount>>("read-by-python")),
  refused: exceptionList([...EXCEPTIONS.filter(({ gives }) => gives !== "read"), ...WRITE_EXCEPTIONS]),
  accepted: exceptionList(EXCEPTIONS.filter(({ gives }) => gives === "read")),
  losses: lossTable(read("test/flows/format-matrix.approved.txt")),
};

const partOf = (name: string) => new RegExp(`(?<=<!-- ${name} -->\\n\\n)[\\s\\S]*?(?=\\n\\n<!-- end -->)`);

describe(PAGE, () => {
  test.each(Object.keys(PARTS))("has a part for `%s`", (name) => {
    expect(read(PAGE)).toMatch(partOf(name));
  });

  // `npx vitest run --project 'node*' test/docs/formats.test.ts -u` writes them anew.
  test("its tables and lists are what the tests found", async () => {
    let page = read(PAGE);
    for (const [name, text] of Object.entries(PARTS)) page = page.replace(partOf(name), () => text);
    await expect(page).toMatchFileSnapshot(`../../${PAGE}`);
  });

  test("its sums are those of the tables", () => {
    const sum = ({ right, all }: ReturnType<typeof totalOf>) => `${right} of ${grouped(all)}`;
    expect(read(PAGE)).toContain(sum(totalOf(readTally)).replace(/^\d+/, grouped));
    expect(read(PAGE)).toContain(sum(totalOf(writtenTally)).replace(/^\d+/, grouped));
  });
});

function grouped(n: number | string): string {
  return Number(n).toLocaleString("en");
}
