import type { Slice } from "../hierarchy/slice.ts";
import {
  FORMAT_SLICE_OPTIONS,
  type FormatSliceOptions,
  rawPieces,
  type ValueDecodingOptions,
} from "../run/slabs/raw.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { checkedOptions, invalidOption, isObject } from "../util/options.ts";
import { type ReadableStream, streamFrom } from "../util/web-streams.ts";

/** The bytes of a file. Each piece is valid until the next one is requested. */
type Pieces = AsyncGenerator<Uint8Array>;

/** Description of a format that slices are written in. */
type SliceFormatEntry = {
  readonly name: string;
  /** File name extensions of the format. */
  readonly endings: readonly string[];
  /** Contents of such a file, for `--help`. */
  readonly summary: string;
  /** True for text, which a terminal can show. */
  readonly isText: boolean;
  /** True if values are decoded by default. */
  readonly isDecoded: boolean;
} & (
  | {
      /** @throws `unsupported-operation` for a data type that the format cannot represent. */
      readonly pieces: (slice: Slice, options: FormatSliceOptions) => Awaitable<Pieces>;
    }
  | {
      /** A file contains several named arrays, or these are columns of one table. */
      readonly holds: "arrays" | "columns";
      /** @throws `unsupported-operation` for a data type that the format cannot represent. */
      readonly piecesOfAll: (slices: readonly Slice[], options: FormatSliceOptions) => Awaitable<Pieces>;
    }
);

/** All formats that slices are written in; the first one is the default. */
export const SLICE_FORMATS = [
  {
    name: "raw",
    endings: ["raw", "bin"],
    summary: "items in C order, little-endian",
    isText: false,
    isDecoded: false,
    pieces: (slice, options): Pieces => rawSlicePieces(slice, options),
  },
  {
    name: "npy",
    endings: ["npy"],
    summary: "a NumPy file",
    isText: false,
    isDecoded: false,
    pieces: async (slice, options): Promise<Pieces> => (await import("./npy.ts")).npyPieces(slice, options),
  },
  {
    name: "npz",
    endings: ["npz"],
    summary: "a NumPy archive of several arrays",
    isText: false,
    isDecoded: false,
    holds: "arrays",
    piecesOfAll: async (slices, options): Promise<Pieces> =>
      (await import("./npy.ts")).npzPieces(slices, options),
  },
  {
    name: "json",
    endings: ["json"],
    summary: "nested lists",
    isText: true,
    isDecoded: false,
    pieces: async (slice, options): Promise<Pieces> => (await import("./json.ts")).jsonPieces(slice, options),
  },
  {
    name: "ndjson",
    endings: ["ndjson", "jsonl"],
    summary: "one JSON object per line for each item, with its coordinates",
    isText: true,
    isDecoded: true,
    holds: "columns",
    piecesOfAll: async (slices, options): Promise<Pieces> =>
      (await import("./rows.ts")).ndjsonPieces(slices, options),
  },
  {
    name: "csv",
    endings: ["csv"],
    summary: "one line per item, with its coordinates",
    isText: true,
    isDecoded: true,
    holds: "columns",
    piecesOfAll: async (slices, options): Promise<Pieces> =>
      (await import("./rows.ts")).csvPieces(slices, options),
  },
  {
    name: "arrow",
    endings: ["arrow", "feather"],
    summary: "the same table as an Arrow file",
    isText: false,
    isDecoded: true,
    holds: "columns",
    piecesOfAll: async (slices, options): Promise<Pieces> =>
      (await import("./arrow.ts")).arrowPieces(slices, options, "file"),
  },
  {
    name: "arrows",
    endings: ["arrows"],
    summary: "as an Arrow stream",
    isText: false,
    isDecoded: true,
    holds: "columns",
    piecesOfAll: async (slices, options): Promise<Pieces> =>
      (await import("./arrow.ts")).arrowPieces(slices, options, "stream"),
  },
  {
    name: "parquet",
    endings: ["parquet"],
    summary: "as Parquet",
    isText: false,
    isDecoded: true,
    holds: "columns",
    piecesOfAll: async (slices, options): Promise<Pieces> =>
      (await import("./parquet.ts")).parquetPieces(slices, options),
  },
] as const satisfies readonly SliceFormatEntry[];

/**
 * Format of a written slice. `raw` is only the items in C order, little-endian; `npy` is a NumPy file of one array,
 * `npz` of several; `json` is nested lists of values. `csv`, `ndjson`, `arrow`, `arrows` and `parquet` are tables with
 * one row per item and its coordinates.
 */
export type SliceFormat = (typeof SLICE_FORMATS)[number]["name"];

/**
 * Streams a slice as the bytes of a file, read on demand within the slice's memory budget. Several slices become the
 * arrays of an `npz` file or the columns of a table.
 *
 * @throws (into the stream) `unsupported-operation` for data types that the format cannot represent; `invalid-option`
 *   for several slices in a format for one, and for slices of different dimensions in a table.
 * @example
 * ```ts
 * import { formatSlice, slice } from "zarrflow";
 *
 * const point = slice("era5.zarr/t2m", { time: [0, 2], latitude: 0, longitude: 0 });
 * console.log((await new Response(formatSlice(point, "csv")).text()).split("\n")[0]);
 * ```
 */
export function formatSlice(
  slices: Slice | readonly Slice[],
  format: SliceFormat,
  options: FormatSliceOptions = {},
): ReadableStream<Uint8Array> {
  checkedOptions(options, FORMAT_SLICE_OPTIONS);
  const all = [slices].flat();
  if (all.length === 0 || !all.every((slice) => isObject(slice) && "slabs" in slice))
    throw invalidOption("this is not a slice", "the result of slice()", slices);
  const [only] = all;
  const isDecoded = options.decode || options.flags;
  if (format === "raw" && only && all.length === 1 && !isDecoded) return only.bytes();
  return streamFrom(ownPieces(formattedPieces(all as Slice[], format, options)));
}

/**
 * As `formatSlice`, without a copy: each piece is valid until the next one is requested.
 *
 * @throws as `formatSlice`.
 */
export function formattedPieces(
  slices: readonly Slice[],
  format: SliceFormat,
  options: FormatSliceOptions = {},
): Pieces {
  return piecesOf(slices, entryOf(format), options);
}

async function* piecesOf(
  slices: readonly Slice[],
  entry: SliceFormatEntry,
  options: FormatSliceOptions,
): Pieces {
  const { decode = entry.isDecoded || options.flags } = options;
  const asked = { ...options, decode };
  if (options.flags && !decode)
    throw invalidOption("flag names are part of decoding", "decode: true", decode);
  if ("piecesOfAll" in entry) return yield* await entry.piecesOfAll(slices, asked);
  const [slice, ...others] = slices;
  if (slice === undefined || others.length > 0) {
    throw invalidOption(`a ${entry.name} file can hold only one array`, "one slice", slices.length);
  }
  yield* await entry.pieces(slice, asked);
}

/** Returns the description of a format. @throws `invalid-option` for an unknown name */
export function entryOf(format: SliceFormat): SliceFormatEntry {
  const entry = SLICE_FORMATS.find(({ name }) => name === format);
  if (entry !== undefined) return entry;
  const names = SLICE_FORMATS.map(({ name }) => name);
  throw invalidOption("slices cannot be written in this format", names.join(", "), format);
}

async function* ownPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield piece.slice();
}

/** Writes the items of a slice, decoded if requested. @throws as `rawPieces` and `decodedSlabs` */
export async function* rawSlicePieces(
  slice: Slice,
  options: ValueDecodingOptions,
): AsyncGenerator<Uint8Array> {
  if (!options.decode) return yield* rawPieces(slice.slabs());
  const { decodedSlabs, sliceDecoder } = await import("./decoded-slice.ts");
  yield* rawPieces(decodedSlabs(await sliceDecoder(slice, options)));
}

/** File name extensions of other formats: for arrays and tables, for images, and for compressed files. */
const FOREIGN: ReadonlySet<string> = new Set([
  ...["ipc", "tsv", "xls", "xlsx"],
  ...["cdf", "fits", "grb", "grb2", "grib", "grib2", "h5", "hdf", "hdf5", "mat", "nc", "nc4", "pkl", "pt"],
  ...["bmp", "cog", "gif", "jp2", "jpeg", "jpg", "png", "tif", "tiff", "webp"],
  ...["bz2", "gz", "lz4", "tar", "tgz", "xz", "zst"],
]);

/** Meaning of a file name extension: a format that can be written, another one, Zarr, or unknown. */
export type FileEnding =
  | { readonly kind: "written"; readonly ending: string; readonly format: SliceFormat }
  | { readonly kind: "foreign" | "zarr" | "unknown"; readonly ending: string };

/** Interprets the extension of a name or path, ignoring case. */
export function fileEnding(path: string): FileEnding {
  const ending = /[^/\\]\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const written = SLICE_FORMATS.find(({ endings }) => endings.some((one) => one === ending));
  if (written) return { kind: "written", ending, format: written.name };
  if (/^(?:zarr|zip|ozx)$/.test(ending)) return { kind: "zarr", ending };
  return { kind: FOREIGN.has(ending) ? "foreign" : "unknown", ending };
}
