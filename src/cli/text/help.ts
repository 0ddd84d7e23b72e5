import { commandList } from "../command-list.ts";
import type { CommandWords, Option, Options } from "../parse-arguments.ts";

const EXIT_CODES = [
  ["0", "done"],
  ["1", "failed"],
  ["2", "wrong usage, or the target exists already"],
  ["3", "not found"],
  ["4", "not supported"],
  ["5", "transient failure, retries exhausted"],
  ["6", "differences found"],
  ["130", "interrupted"],
] as const;

/** The text of `zarrflow --help`. */
export function overview(): string {
  return `zarrflow copies, rechunks, converts and slices chunked arrays (Zarr) within a memory budget

usage: zarrflow COMMAND OPERANDS [--flags]

commands
${definitions([
  ...Object.entries(commandList).map(([name, { summary }]) => [name, summary] as const),
  ["help", "show help and examples for a command: zarrflow help COMMAND"],
])}

A URL is a path or file:// of a folder or of a .zip or .ozx file, s3://BUCKET/PATH, or http(s)://HOST/PATH
(read-only). The path of an array follows, as in era5.zarr/t2m or s3://bucket/era5.zarr.zip/t2m.

Data and JSON go to standard output; progress, summaries and errors to standard error.

exit codes
${definitions(EXIT_CODES)}
`;
}

/** The text of `zarrflow help COMMAND`. */
export function commandHelp(name: string, command: CommandWords): string {
  const { summary, usage, notes = [], options, examples } = command;
  const sections = [
    `zarrflow ${name}: ${summary}`,
    `usage: zarrflow ${name} ${usage} [--flags]`,
    notes.join("\n"),
    `flags\n${flags(options)}`,
    `examples\n${examples.map(({ line, says }) => `  # ${says}\n  zarrflow ${line}`).join("\n")}`,
  ];
  return `${sections.filter(Boolean).join("\n\n")}\n`;
}

function valueText({ value, bare }: Option): string {
  if (value === undefined) return "";
  return bare === undefined ? ` ${value}` : `[=${value}]`;
}

function flags(options: Options): string {
  return definitions(
    Object.entries(options).map(([name, option]: [string, Option]) => [
      `--${name}${valueText(option)}`,
      option.summary,
    ]),
  );
}

/** Names and their descriptions, in lines of at most `width`. Long descriptions are wrapped and indented. */
export function definitions(rows: readonly (readonly [name: string, text: string])[], width = 100): string {
  const room = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.flatMap(([name, text]) =>
    wrapped(text, width - room - 4).map((line, i) =>
      `  ${(i === 0 ? name : "").padEnd(room)}  ${line}`.trimEnd(),
    ),
  );
  return lines.join("\n");
}

/** Wraps text at spaces into lines of at most `width`. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
