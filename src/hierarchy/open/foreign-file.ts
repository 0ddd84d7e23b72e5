import { type Store, type StoreSpec, valueAtMost } from "../../stores/store.ts";
import { childSpec, parentSpec } from "../../stores/store-spec.ts";
import { openStore } from "../../stores/url.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { joinKey } from "../../util/node-path.ts";

/** A format that zarrflow does not read, with a way to convert it to Zarr. */
export interface ForeignFormat {
  /** Name with its article. */
  readonly name: string;
  readonly hint: string;
}

interface FileFormat extends ForeignFormat {
  /** Returns true if a file of the format may start with these bytes, given as Latin-1. */
  readonly isStart: (start: string) => boolean;
}

const HDF: FileFormat = {
  name: "a NetCDF/HDF5 file",
  hint: 'Convert it to Zarr first: xarray.open_dataset("FILE", chunks={}).to_zarr("out.zarr").',
  isStart: startsWith("\x89HDF\r\n\x1a\n", "CDF\x01", "CDF\x02", "CDF\x05"),
};

const KERCHUNK_HINT =
  'Convert it to Zarr first: xarray.open_dataset("REFERENCES", engine="kerchunk", chunks={}).to_zarr("out.zarr").';

const FILES: readonly FileFormat[] = [
  HDF,
  {
    name: "a GRIB file",
    hint: 'Convert it to Zarr first: xarray.open_dataset("FILE", engine="cfgrib", chunks={}).to_zarr("out.zarr").',
    isStart: startsWith("GRIB"),
  },
  {
    name: "a TIFF file (GeoTIFF, COG, OME-TIFF)",
    hint: 'Convert it to Zarr first: a GeoTIFF or COG with rioxarray.open_rasterio("FILE", chunks={}).to_dataset(name="data").to_zarr("out.zarr"), a microscopy image with bioformats2raw.',
    isStart: startsWith("II*\0", "II+\0", "MM\0*", "MM\0+"),
  },
  {
    name: "a tar archive",
    hint: "Unpack it first (tar -xf), and open the folder inside. Zip is the only archive that can be read directly.",
    isStart: (start) => start.startsWith("ustar", 257),
  },
  {
    name: "a compressed file",
    hint: "Unpack it first (tar -xf for a tar archive), and open what is inside.",
    isStart: startsWith("\x1f\x8b", "\x28\xb5\x2f\xfd", "BZh", "\xfd7zXZ\0"),
  },
  { name: "a kerchunk JSON file", hint: KERCHUNK_HINT, isStart: isKerchunk },
];

/** File names for which servers are asked for the first bytes. */
const FOREIGN_NAME =
  /\.(?:nc[34]?|cdf|h5|hdf5?|gri?b2?|tiff?|tar|tgz|tbz2?|txz|gz|bz2|xz|zst|json|kerchunk)$/i;

/** Number of bytes that identify the format of a file. */
const START_BYTES = 4096;

/** Identifies the file in place of a store, possibly with an unknown format; undefined if there is no file. */
export async function foreignFile(
  spec: StoreSpec,
  signal: AbortSignal | undefined,
): Promise<{ readonly format: ForeignFormat | undefined } | undefined> {
  const parent = parentSpec(spec);
  if (parent === undefined || (spec.kind !== "directory" && !FOREIGN_NAME.test(parent.name)))
    return undefined;
  return unlessUnreadable(signal, async () => {
    const folder = await openStore(parent.spec);
    const start = await folder.get(parent.name, { range: { offset: 0, length: START_BYTES }, signal });
    await folder.close?.();
    if (start === undefined) return undefined;
    const text = Array.from(start, (byte) => String.fromCharCode(byte)).join("");
    return { format: FILES.find(({ isStart }) => isStart(text)) };
  });
}

interface FolderFormat extends ForeignFormat {
  /** A key present in folders of the format, and below a text that its value contains. */
  readonly key: string;
  readonly holds: string;
}

const ICECHUNK: ForeignFormat = {
  name: "an icechunk repository",
  hint: 'Export a snapshot to Zarr first, in Python: xarray.open_zarr(repo.readonly_session("main").store).to_zarr("out.zarr").',
};

const FOLDERS: readonly FolderFormat[] = [
  { ...ICECHUNK, key: "refs/branch.main/ref.json", holds: "snapshot" },
  { ...ICECHUNK, key: "repo", holds: "ICE" },
  {
    name: "an N5 container",
    hint: "Convert it to Zarr first, in Python: tensorstore opens its arrays with the driver `n5`, and writes them with `zarr3`.",
    key: "attributes.json",
    holds: "{",
  },
];

/** Maximum size in bytes of a value that identifies the format of a folder. */
const MAX_MARK = 2 ** 20;

/** Returns the format of another program's folder; undefined if it is not recognized. */
export async function foreignFolder(
  store: Pick<Store, "get">,
  path: string,
  signal: AbortSignal | undefined,
): Promise<ForeignFormat | undefined> {
  for (const folder of FOLDERS) {
    const mark = await unlessUnreadable(signal, () =>
      valueAtMost(store, joinKey(path, folder.key), MAX_MARK, { signal }),
    );
    if (mark && new TextDecoder("latin1").decode(mark).includes(folder.holds)) return folder;
  }
  return undefined;
}

/** Returns the place of a run that is active or was killed; undefined if there is none. */
export async function unfinishedAt(
  spec: StoreSpec,
  path: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (!["directory", "zip", "s3", "zip-value", "memory"].includes(spec.kind)) return undefined;
  if (path !== "" && childSpec(spec, path) === undefined) return undefined;
  const { leftoversAt } = await import("../../targets/leftovers.ts");
  return unlessUnreadable(signal, async () => {
    const looking = { withUploads: false, below: false, signal };
    for await (const { kind, place } of leftoversAt({ store: spec, path }, looking))
      if (kind !== "scratch") return place;
    return undefined;
  });
}

/** Calls a function and returns undefined if it cannot read the files. */
export async function unlessUnreadable<T>(
  signal: AbortSignal | undefined,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    throwIfAborted(signal);
    if (isZarrflowError(error)) return undefined;
    throw error;
  }
}

function startsWith(...signatures: readonly string[]): (start: string) => boolean {
  return (start) => signatures.some((signature) => start.startsWith(signature));
}

/** True for kerchunk references, with a version or as plain keys. */
function isKerchunk(start: string): boolean {
  return /^\s*\{\s*(?:"version"\s*:\s*\d+\s*,\s*)?"(?:refs|gen|templates|\.zgroup|\.zattrs|[^"]*\/?\.zarray)"\s*:/.test(
    start,
  );
}
