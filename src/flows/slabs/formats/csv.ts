import type { Slice } from "../../../hierarchy/slice.ts";
import type { DecodeOptions } from "../decode/decoder.ts";
import { textRows } from "../table/text-rows.ts";

/** CSV of slices, quoted after RFC 4180: a line of names, then a line for each item; missing values are empty. */
export function csvPieces(slices: readonly Slice[], options: DecodeOptions): AsyncGenerator<Uint8Array> {
  return textRows(slices, options, {
    header: (names) => `${names.map(quoted).join(",")}\n`,
    before: (_, number) => (number === 0 ? "" : ","),
    cell: (text, { isText }) => (isText && text !== undefined ? quoted(text) : (text ?? "")),
    end: "\n",
  });
}

/** Text with quotes where it needs them; an empty text has them, since nothing at all is a missing value. */
function quoted(text: string): string {
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
