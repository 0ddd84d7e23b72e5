import type { Slice } from "../../../hierarchy/slice.ts";
import type { DecodeOptions } from "../decode/decoder.ts";
import type { CellText } from "../table/cell-text.ts";
import { textRows } from "../table/text-rows.ts";

/** Writes lines of JSON, one object per item. */
export function ndjsonPieces(slices: readonly Slice[], options: DecodeOptions): AsyncGenerator<Uint8Array> {
  return textRows(slices, options, {
    header: () => "",
    before: (name, number) => `${number === 0 ? "{" : ","}${JSON.stringify(name)}:`,
    cell: jsonCell,
    end: "}\n",
  });
}

const NOT_FINITE = /^(?:NaN|-?Infinity)$/;

/** A value as JSON: missing ones as null, text and non-finite numbers as strings. */
export function jsonCell(text: string | undefined, { isText }: CellText): string {
  if (text === undefined) return "null";
  return isText || NOT_FINITE.test(text) ? JSON.stringify(text) : text;
}
