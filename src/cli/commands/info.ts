import type { ArrayInfo, InfoTotals, NodeInfo } from "../../flows/info.ts";
import { columns, formatShape, printable } from "../../flows/text/format.ts";
import { counted, grouped } from "../../util/names.ts";
import { redact } from "../../util/redact.ts";
import { formatBytes } from "../../util/units.ts";
import { storeAccessOf } from "../option-values.ts";
import { defineCommand, FAILED } from "../parse-arguments.ts";
import { printWarnings } from "../progress/event-progress.ts";
import { accessOptions, outputOptions } from "../shared-options.ts";
import { toJson, writeJsonList } from "../text/results.ts";

export const command = defineCommand({
  usage: "URL",
  notes: [
    "For a group, shows its attributes and those of the groups below it, then the totals of all arrays. A node that",
    "cannot be read is listed as `broken`; the others are still shown, and the exit code is 1.",
  ],
  operands: [1, 1],
  options: { ...accessOptions, ...outputOptions },
  examples: [
    { line: "info era5.zarr", says: "every array of a group, and the totals" },
    { line: "info era5.zarr.zip/t2m", says: "one array in a zip" },
    { line: "info era5.zarr --json", says: "a JSON list with one object per node, `kind` first" },
  ],
  async run([url = ""], values, terminal) {
    const { info } = await import("../../flows/info.ts");
    const onEvent = printWarnings(terminal, values);
    const options = { ...storeAccessOf(values), signal: terminal.signal, onEvent };
    let arrays = 0;
    async function* noted() {
      for await (const node of info(url, { ...options, all: true })) {
        if (node.kind === "broken") terminal.endWith(FAILED);
        if (node.kind === "array") arrays++;
        yield node;
      }
    }
    if (values.json) return writeJsonList(noted(), terminal);
    let separator = "";
    for await (const node of noted()) {
      if (node.kind === "totals" && arrays === 0) continue;
      await terminal.write(separator + nodeInfoText(node, redact(url)));
      separator = "\n";
    }
    if (arrays === 0 && !values.quiet) terminal.printLine(`no arrays in ${url}`);
  },
});

const ATTRIBUTE_WIDTH = 60;

/** An array as a block of lines; `name` stands for an array without a path. */
function arrayInfoText(info: ArrayInfo, name: string): string {
  const { path, dataType, shape, dimensionNames, zarrFormat, chunkShape, innerChunkShape, codecs } = info;
  const rows = [
    ["format", zarrFormat],
    ...(innerChunkShape ? [["chunks", `${formatShape(innerChunkShape)} in shards`]] : []),
    [innerChunkShape ? "shards" : "chunks", `${formatShape(chunkShape)}, ${presence(info)}`],
    ["codecs", printable(codecs.join(", ")) || "none"],
    ["size", sizes(info)],
    ["fill value", itemText(info.fillValue ?? "undefined")],
    ...(info.missingValue === null ? [] : [["missing value", itemText(info.missingValue)]]),
    ...attributeRows(info.attributes),
  ];
  const title = `${path || name}  ${dataType} ${formatShape(shape, dimensionNames)}`;
  return `${printable(title)}\n${columns(rows)}\n`;
}

/** A node, or the totals of all nodes, as a block of lines. */
export function nodeInfoText(info: NodeInfo, name: string): string {
  if (info.kind === "array") return arrayInfoText(info, name);
  if (info.kind === "totals") return totalsText(info);
  const title = printable(info.path || name);
  if ("error" in info) {
    const what = info.kind === "broken" ? "broken" : "not supported";
    return `${title}  ${what}\n  ! ${printable(info.error.message)}\n`;
  }
  const rows = [["format", info.zarrFormat], ...attributeRows(info.attributes)];
  return `${title}  group\n${columns(rows)}\n`;
}

function totalsText(totals: InfoTotals): string {
  const { arrays, groups, broken, unsupported } = totals;
  const rows = [
    [
      "nodes",
      [
        counted(arrays, "array"),
        counted(groups, "group"),
        broken > 0 && `${broken} broken`,
        unsupported > 0 && `${unsupported} not supported`,
      ]
        .filter(Boolean)
        .join(", "),
    ],
    ["chunks", presence(totals)],
    ["size", sizes(totals)],
  ];
  return `total\n${columns(rows)}\n`;
}

function attributeRows(attributes: unknown): string[][] {
  return Object.entries(attributes as object).map(([attribute, value], i) => [
    i === 0 ? "attributes" : "",
    printable(`${attribute}: ${shortened(toJson(value))}`),
  ]);
}

function presence({ chunks, chunksPresent }: Pick<ArrayInfo, "chunks" | "chunksPresent">): string {
  return chunksPresent === null
    ? `${grouped(chunks)} in the grid`
    : `${grouped(chunksPresent)} of ${grouped(chunks)} stored`;
}

function sizes({
  storedBytes,
  logicalBytes,
  ratio,
}: Pick<ArrayInfo, "storedBytes" | "logicalBytes" | "ratio">): string {
  const parts = [
    storedBytes !== null && `${formatBytes(storedBytes)} stored`,
    logicalBytes !== null && `${formatBytes(logicalBytes)} of items`,
    ratio !== null && `ratio ${ratio.toFixed(2)}`,
  ];
  return parts.filter(Boolean).join(", ") || "unknown";
}

/** Formats an item given as JSON, where non-finite numbers are quoted. */
function itemText(json: string): string {
  return shortened(printable(json.replace(/^"(NaN|-?Infinity)"$/, "$1")));
}

function shortened(text: string): string {
  return text.length > ATTRIBUTE_WIDTH ? `${text.slice(0, ATTRIBUTE_WIDTH - 1)}…` : text;
}
