import type { ChunkData } from "../codecs/chunk-data.ts";
import type { Slice } from "../hierarchy/slice.ts";
import type { DataType } from "../meta/data-type.ts";
import type { Decoder } from "../run/slabs/decoder.ts";
import { chunkItems } from "../run/slabs/json-items.ts";
import type { FormatSliceOptions } from "../run/slabs/raw.ts";
import { typedValues } from "../run/slabs/typed-values.ts";
import { product } from "../util/shape.ts";
import { cellText } from "./cell-text.ts";
import { sliceDecoder } from "./decoded-slice.ts";
import { jsonCell } from "./rows.ts";

/** Approximate number of characters of a piece. */
const PIECE_LENGTH = 2 ** 16;

/** Writes a slice's values in C order as UTF-8, in lists nested by dimension, or in one flat list. */
export async function* jsonPieces(
  slice: Slice,
  { flat = false, decode = false, flags }: FormatSliceOptions,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const stored = await slice.dataType();
  const decoded = decode ? await sliceDecoder(slice, { decode, flags }) : undefined;
  const { decoder } = decoded ?? {};
  const shape = await slice.shape();
  const items = product(shape);
  const { opened, closed } = brackets(flat ? [items] : shape);
  let text = items === 0 ? "[]" : "";
  let at = 0;
  for await (const { data } of (decoded?.slice ?? slice).slabs()) {
    for (const item of decoder ? decodedItems(data, stored, decoder) : chunkItems(data, stored)) {
      text += `${at > 0 ? "," : ""}${"[".repeat(opened(at))}${item}${"]".repeat(closed(at))}`;
      at++;
      if (text.length < PIECE_LENGTH) continue;
      yield encoder.encode(text);
      text = "";
    }
  }
  yield encoder.encode(`${text}\n`);
}

/** Kinds whose JSON is a list, an object or Base64. */
const COMPOSED = ["complex", "struct", "object", "fixed-bytes", "raw", "binary"];

function* decodedItems(data: ChunkData, stored: DataType, decoder: Decoder): Generator<string> {
  if (COMPOSED.includes(decoder.dataType.kind)) return yield* chunkItems(data, stored);
  const values = typedValues(data, stored);
  const cell = cellText(decoder, true);
  for (const value of decoder.decode?.(values) ?? values) yield jsonCell(cell.textOf(value), cell);
}

/** Returns functions for the number of lists that begin before an item, and that end after it. */
function brackets(shape: readonly number[]) {
  const sizes = shape.map((_, d) => product(shape.slice(d))).toReversed();
  const count = (at: number) => {
    const inside = sizes.findIndex((size) => at % size !== 0);
    return inside < 0 ? sizes.length : inside;
  };
  return { opened: count, closed: (at: number) => count(at + 1) };
}
