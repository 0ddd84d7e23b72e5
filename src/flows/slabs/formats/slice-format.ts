import type { Awaitable } from "../../../util/awaitable.ts";
import { invalid, isObject } from "../../../util/check-options.ts";
import { type ReadableStream, streamFrom } from "../../../util/web-streams.ts";
import type { Slice } from "../../slice.ts";
import { rawPieces } from "./raw.ts";

/** The bytes of a file; each piece is valid until the next is asked for. */
type Pieces = AsyncGenerator<Uint8Array>;

/** What is known of a format that slices are written in. */
interface SliceFormatEntry {
  readonly name: string;
  /** Endings of file names that name it. */
  readonly endings: readonly string[];
  /** What a file of it contains, as `--help` shows it. */
  readonly summary: string;
  /** Text of any data type, which a terminal can show; else the items' own bytes, little-endian, perhaps after a header. */
  readonly isText: boolean;
  /** @throws `unsupported-operation` for a data type that the format cannot represent. */
  readonly pieces: (slice: Slice) => Awaitable<Pieces>;
}

/** All formats that slices are written in; the first is the default. */
export const SLICE_FORMATS = [
  {
    name: "raw",
    endings: ["raw", "bin"],
    summary: "items in C order, little-endian",
    isText: false,
    pieces: (slice): Pieces => rawPieces(slice.slabs()),
  },
  {
    name: "npy",
    endings: ["npy"],
    summary: "a NumPy file",
    isText: false,
    pieces: async (slice): Promise<Pieces> => (await import("./npy.ts")).npyPieces(slice),
  },
  {
    name: "json",
    endings: ["json"],
    summary: "one flat list",
    isText: true,
    pieces: async (slice): Promise<Pieces> => (await import("./json.ts")).jsonPieces(slice),
  },
] as const satisfies readonly SliceFormatEntry[];

/**
 * How a slice is written: `raw` is its items in C order, little-endian, and nothing else; `npy` is NumPy's file
 * of one array; `json` one flat list of the values.
 */
export type SliceFormat = (typeof SLICE_FORMATS)[number]["name"];

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
export function formattedPieces(slice: Slice, format: SliceFormat): Pieces {
  return piecesOf(slice, entryOf(format));
}

async function* piecesOf(slice: Slice, { pieces }: SliceFormatEntry): Pieces {
  yield* await pieces(slice);
}

/** Whether the format is text, which a terminal can show. */
export function isTextFormat(format: SliceFormat): boolean {
  return entryOf(format).isText;
}

function entryOf(format: SliceFormat): SliceFormatEntry {
  const entry = SLICE_FORMATS.find(({ name }) => name === format);
  if (entry !== undefined) return entry;
  const names = SLICE_FORMATS.map(({ name }) => name);
  throw invalid("slices cannot be written in this format", names.join(", "), format);
}

async function* ownPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield piece.slice();
}
