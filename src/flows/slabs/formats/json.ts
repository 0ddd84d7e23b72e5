import type { Slice } from "../../slice.ts";
import { chunkItems } from "./json-items.ts";

/** A piece has about this many characters. */
const PIECE_LENGTH = 2 ** 16;

/** The UTF-8 bytes of one flat JSON list of a slice's values in C order. */
export async function* jsonPieces(slice: Slice): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const dataType = await slice.dataType();
  let text = "[";
  let separator = "";
  for await (const { data } of slice.slabs()) {
    for (const item of chunkItems(data, dataType)) {
      text += separator + item;
      separator = ",";
      if (text.length < PIECE_LENGTH) continue;
      yield encoder.encode(text);
      text = "";
    }
  }
  yield encoder.encode(`${text}]\n`);
}
