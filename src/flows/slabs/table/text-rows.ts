import type { Slice } from "../../../hierarchy/slice.ts";
import type { DecodeOptions } from "../decode/decoder.ts";
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
  { decode = true, flags }: DecodeOptions,
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
