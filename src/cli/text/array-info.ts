import type { ArrayInfo, InfoTotals, NodeInfo } from "../../flows/info.ts";
import { columns, counted, formatShape, grouped, printable } from "../../flows/text/format.ts";
import { formatBytes } from "../../util/units.ts";
import { toJson } from "./json.ts";

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
