import type { Slice } from "../hierarchy/slice.ts";
import type { ValueDecodingOptions } from "../run/slabs/raw.ts";
import { type CellText, cellText } from "./cell-text.ts";
import { openTable } from "./table.ts";

/** Syntax of rows written as text. */
export interface RowText {
  /** Text before the first row. */
  readonly header: (names: readonly string[]) => string;
  /** Text before the value of a column, given its name and number. */
  readonly before: (name: string, number: number) => string;
  readonly cell: (text: string | undefined, cell: CellText) => string;
  readonly end: string;
}

/** Approximate number of characters of a piece. */
const PIECE_LENGTH = 2 ** 16;
const MAX_ROWS = 2 ** 12;

/** Writes slices as a table of text in UTF-8. */
export async function* textRows(
  slices: readonly Slice[],
  { decode = true, flags }: ValueDecodingOptions,
  { header, before, cell, end }: RowText,
): AsyncGenerator<Uint8Array> {
  const table = await openTable(slices, { decode, flags });
  try {
    const encoder = new TextEncoder();
    const cells = table.columns.map((column, number) => {
      const text = cellText(column, decode);
      const start = before(column.name, number);
      const textOf = (value: unknown) => start + cell(text.textOf(value), text);
      return { column, textOf, repeated: column.repeated && Array.from(column.repeated, textOf) };
    });
    let text = header(table.columns.map(({ name }) => name));
    for await (const rows of table.rows(MAX_ROWS)) {
      const lines = Array.from({ length: rows.count }, () => "");
      for (const { column, textOf, repeated } of cells) {
        if (repeated) {
          const indices = column.indices(rows);
          for (let i = 0; i < rows.count; i++) lines[i] = `${lines[i]}${repeated[indices[i] ?? 0]}`;
        } else {
          const values = column.valuesOf(rows);
          for (let i = 0; i < rows.count; i++) lines[i] = `${lines[i]}${textOf(values.at(i))}`;
        }
      }
      for (const line of lines) {
        text += line + end;
        if (text.length < PIECE_LENGTH) continue;
        yield encoder.encode(text);
        text = "";
      }
    }
    if (text !== "") yield encoder.encode(text);
  } finally {
    await table.close();
  }
}

/** Writes slices as CSV, quoted per RFC 4180: a header line, then a line per item. Missing values are empty. */
export function csvPieces(
  slices: readonly Slice[],
  options: ValueDecodingOptions,
): AsyncGenerator<Uint8Array> {
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

/** Writes lines of JSON, one object per item. */
export function ndjsonPieces(
  slices: readonly Slice[],
  options: ValueDecodingOptions,
): AsyncGenerator<Uint8Array> {
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
