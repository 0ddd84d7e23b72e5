import { SLICE_FORMATS, type SliceFormat } from "./slice-format.ts";

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
