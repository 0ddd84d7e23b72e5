import type { ArrayInfo } from "../../flows/info.ts";
import { formatBytes } from "../../util/byte-size.ts";
import { columns } from "./columns.ts";
import { toJson } from "./json.ts";
import { formatShape, grouped } from "./numbers.ts";
import { printable } from "./printable.ts";

const ATTRIBUTE_WIDTH = 60;

/** An array as a block of lines; `name` stands for one without a path of its own. */
export function arrayInfoText(info: ArrayInfo, name: string): string {
  const { path, dataType, shape, dimensionNames, zarrFormat, chunkShape, innerChunkShape, codecs } = info;
  const rows = [
    ["format", zarrFormat],
    ...(innerChunkShape ? [["chunks", `${formatShape(innerChunkShape)} in shards`]] : []),
    [innerChunkShape ? "shards" : "chunks", `${formatShape(chunkShape)}, ${presence(info)}`],
    ["codecs", printable(codecs.join(", ")) || "none"],
    ["size", sizes(info)],
    ...Object.entries(info.attributes as object).map(([attribute, value], i) => [
      i === 0 ? "attributes" : "",
      printable(`${attribute}: ${shortened(toJson(value))}`),
    ]),
  ];
  const title = `${path || name}  ${dataType} ${formatShape(shape, dimensionNames)}`;
  return `${printable(title)}\n${columns(rows)}\n`;
}

function presence({ chunks, chunksPresent }: ArrayInfo): string {
  return chunksPresent === null
    ? `${grouped(chunks)} in the grid`
    : `${grouped(chunksPresent)} of ${grouped(chunks)} present`;
}

function sizes({ storedBytes, logicalBytes, ratio }: ArrayInfo): string {
  const parts = [
    storedBytes !== null && `${formatBytes(storedBytes)} stored`,
    logicalBytes !== null && `${formatBytes(logicalBytes)} of items`,
    ratio !== null && `ratio ${ratio.toFixed(2)}`,
  ];
  return parts.filter(Boolean).join(", ") || "unknown";
}

function shortened(text: string): string {
  return text.length > ATTRIBUTE_WIDTH ? `${text.slice(0, ATTRIBUTE_WIDTH - 1)}…` : text;
}
