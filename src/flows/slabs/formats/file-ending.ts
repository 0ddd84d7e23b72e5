import { SLICE_FORMATS, type SliceFormat } from "./slice-format.ts";

/** Endings of files of other formats: for arrays and tables, for pictures, and for what is compressed as a whole. */
const FOREIGN: ReadonlySet<string> = new Set([
  ...["ipc", "tsv", "xls", "xlsx"],
  ...["cdf", "fits", "grb", "grb2", "grib", "grib2", "h5", "hdf", "hdf5", "mat", "nc", "nc4", "pkl", "pt"],
  ...["bmp", "cog", "gif", "jp2", "jpeg", "jpg", "png", "tif", "tiff", "webp"],
  ...["bz2", "gz", "lz4", "tar", "tgz", "xz", "zst"],
]);

/** What the ending of a file name says of its format: one that is written, another one, Zarr, or nothing. */
export type FileEnding =
  | { readonly kind: "written"; readonly ending: string; readonly format: SliceFormat }
  | { readonly kind: "foreign" | "zarr" | "unknown"; readonly ending: string };

/** What the ending of a name or path says; case not counted. */
export function fileEnding(path: string): FileEnding {
  const ending = /[^/\\]\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const written = SLICE_FORMATS.find(({ endings }) => endings.some((one) => one === ending));
  if (written) return { kind: "written", ending, format: written.name };
  if (/^(?:zarr|zip|ozx)$/.test(ending)) return { kind: "zarr", ending };
  return { kind: FOREIGN.has(ending) ? "foreign" : "unknown", ending };
}
