import type { Slice } from "../../../hierarchy/slice.ts";
import type { DecodeOptions } from "../decode/decoder.ts";
import { textRows } from "../table/text-rows.ts";

/** Writes slices as CSV, quoted per RFC 4180: a header line, then a line per item. Missing values are empty. */
export function csvPieces(slices: readonly Slice[], options: DecodeOptions): AsyncGenerator<Uint8Array> {
  return textRows(slices, options, {
    header: (names) => `${names.map(quoted).join(",")}\n`,
    before: (_, number) => (number === 0 ? "" : ","),
    cell: (text, { isText }) => (isText && text !== undefined ? quoted(text) : (text ?? "")),
    end: "\n",
  });
}

/** Text with quotes if it needs them. Empty text is quoted, since an empty field is a missing value. */
function quoted(text: string): string {
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
