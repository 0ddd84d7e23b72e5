import { invalid, isObject } from "../../../util/check-options.ts";
import { type ReadableStream, streamFrom } from "../../../util/web-streams.ts";
import type { Slice } from "../../slice.ts";
import { rawPieces } from "./raw.ts";

/**
 * How a slice is written: `raw` is its items in C order, little-endian, and nothing else; `npy` is NumPy's file
 * of one array; `json` one flat list of the values.
 */
export type SliceFormat = "raw" | "npy" | "json";

/**
 * A slice as the bytes of a file, read as they are asked for, within the slice's memory budget.
 *
 * @throws (into the stream) `unsupported-operation` for strings and objects as `raw` or `npy`.
 */
export function formatSlice(slice: Slice, format: SliceFormat): ReadableStream<Uint8Array> {
  if (!isObject(slice) || !("slabs" in slice))
    throw invalid("this is not a slice", "the result of slice()", slice);
  if (format === "raw") return slice.bytes();
  return streamFrom(ownPieces(formattedPieces(slice, format)));
}

/**
 * What `formatSlice` streams, without a copy: each piece is valid until the next is asked for.
 *
 * @throws as `formatSlice`.
 */
export function formattedPieces(slice: Slice, format: SliceFormat): AsyncGenerator<Uint8Array> {
  switch (format) {
    case "raw":
      return rawPieces(slice.slabs());
    case "npy":
      return loaded(async () => (await import("./npy.ts")).npyPieces(slice));
    case "json":
      return loaded(async () => (await import("./json.ts")).jsonPieces(slice));
    default:
      throw invalid("slices cannot be written in this format", "raw, npy or json", format);
  }
}

async function* loaded(open: () => Promise<AsyncGenerator<Uint8Array>>): AsyncGenerator<Uint8Array> {
  yield* await open();
}

async function* ownPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield piece.slice();
}
