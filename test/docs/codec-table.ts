import { builtinCodecs } from "../../src/codecs/descriptors.ts";
import { Losses } from "../../src/meta/losses.ts";
import { parseV2Codec, writeV2Codec } from "../../src/meta/v2/codec.ts";
import { parseV3Codec, writeV3Codec } from "../../src/meta/v3/codec.ts";
import { isZarrflowError } from "../../src/util/errors.ts";

/** Where a format says in other words what the codec does. */
const SAID_OTHERWISE: Readonly<Record<string, Readonly<{ v2?: string; v3?: string }>>> = {
  bytes: { v2: "in `dtype`" },
  transpose: { v2: "`order`" },
  "v1.gzip": { v2: "v1 only" },
  zep0007: { v3: "by the data type" },
};

/** The table of the page, with the measurements of `results`, the text of `bench/RESULTS.md`. */
export function codecTable(results: string): string {
  const rows = builtinCodecs().map(({ name, engines: { node = "", browser = "" } = {} }) => {
    const { v2, v3 } = { v2: v2Id(name), v3: v3Name(name) };
    const said = SAID_OTHERWISE[name];
    const names = [v2 ? code(v2) : (said?.v2 ?? "-"), v3 ? code(v3) : (said?.v3 ?? "-")];
    return [code(name), ...names, node, browser, measured(name, results)];
  });
  const head = ["codec", "v2 `id`", "v3 `name`", "in Node", "in browsers", "% of Python"];
  const widths = head.map((title, i) =>
    Math.max(...[head, ...rows].map((cells) => cells[i]?.length ?? 0), title.length),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

/** The id that v2 writes for the codec and reads as it. */
export function v2Id(name: string): string | undefined {
  const losses = new Losses();
  const { id } = writeV2Codec({ name, configuration: {} }, "", losses);
  try {
    losses.check("v2", "");
    return parseV2Codec({ id: id ?? null }, "").name === name ? String(id) : undefined;
  } catch (error) {
    if (isZarrflowError(error)) return undefined;
    throw error;
  }
}

/** The name that v3 writes for the codec and reads as it. */
export function v3Name(name: string): string | undefined {
  const json = writeV3Codec({ name, configuration: {} }, 1);
  const written = typeof json === "string" ? json : (json as { name?: string } | undefined)?.name;
  if (written === undefined) return undefined;
  return parseV3Codec(written, "").name === name ? written : undefined;
}

/** Encoding and decoding 1 MiB against Python, the least and the most of the codec's rows. */
function measured(name: string, results: string): string {
  const section = /### Chunks of 1 MiB\n([\s\S]*?)(?=\n##|$)/.exec(results)?.[1] ?? "";
  const rows = section
    .split("\n")
    .map((row) => row.split("|").map((cell) => cell.trim()))
    .filter(([, title = ""]) => title.split(/[ ,]/)[0] === name);
  const range = (cell: number) => {
    const percents = rows.map((row) => Number(row[cell]));
    const [least, most] = [Math.min(...percents), Math.max(...percents)];
    return least === most ? `${least}` : `${least}-${most}`;
  };
  return rows.length === 0 ? "" : `${range(3)} / ${range(5)}`;
}

function code(text: string): string {
  return `\`${text}\``;
}
