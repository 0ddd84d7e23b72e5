import { type ReadableStream, streamFrom } from "../../util/web-streams.ts";
import type { Slice } from "../slice.ts";
import { jsonPieces } from "./json.ts";
import { npyPieces } from "./npy.ts";

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
  switch (format) {
    case "raw":
      return slice.bytes();
    case "npy":
      return streamFrom(npyPieces(slice));
    case "json":
      return streamFrom(jsonPieces(slice));
  }
}
