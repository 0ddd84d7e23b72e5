import type { ViewedArray, ViewedNode } from "../../../flows/view/describe-node.ts";
import { el } from "./dom.ts";
import { bytesText } from "./words.ts";

/** Characters of a text above which it scrolls in a box. */
const LONG = 300;

/** A panel with the metadata of a node. */
export function details({ array, image, attributes, findings, zarrFormat }: ViewedNode): HTMLElement {
  const rows: (readonly [string, string])[] = [["format", zarrFormat]];
  if (array) rows.push(...arrayRows(array));
  if (image)
    rows.push([
      "image",
      `${image.levels.length} levels, axes ${image.axes.map(({ name }) => name).join(" ")}`,
    ]);
  rows.push(...findings.map((finding) => ["warning", finding] as const));
  return el(
    "section",
    { class: "card", "aria-label": "Metadata" },
    el("h3", {}, "Metadata"),
    table(rows),
    attributes.length > 0 && el("h4", {}, "Attributes"),
    attributes.length > 0 && table(attributes),
  );
}

function arrayRows(array: ViewedArray): (readonly [string, string])[] {
  const { dataType, shape, chunkShape, innerChunkShape, dimensionNames, codecs, itemSize } = array;
  const named = shape.map((n, d) => [dimensionNames[d], n].filter((part) => part !== null).join(" "));
  const items = shape.reduce((product, n) => product * n, 1);
  const rows: (readonly [string, string | undefined])[] = [
    ["data type", dataType],
    ["shape", `(${named.join(", ")})`],
    ["size", itemSize === undefined ? undefined : `${bytesText(items * itemSize)} of items`],
    [innerChunkShape ? "shards" : "chunks", `(${chunkShape.join(", ")})`],
    ["chunks in a shard", innerChunkShape && `(${innerChunkShape.join(", ")})`],
    ["codecs", codecs.join(" + ")],
    ["fill value", array.fillValue],
    ["missing", array.missing.join(", ") || undefined],
    ["packed", array.packing],
  ];
  return rows.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

function table(rows: readonly (readonly [string, string])[]): HTMLElement {
  return el(
    "dl",
    {},
    ...rows.flatMap(([name, text]) => [
      el("dt", {}, name),
      el("dd", text.length > LONG ? { class: "long", tabindex: 0 } : {}, text),
    ]),
  );
}
