import { parentSpec } from "../../stores/folder-spec.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { openStore } from "../../stores/url.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { isZarrflowError } from "../../util/errors.ts";

/** How files of other formats start. */
const SIGNATURES: Readonly<Record<string, readonly string[]>> = {
  "NetCDF/HDF5": ["\x89HDF\r\n\x1a\n", "CDF\x01", "CDF\x02", "CDF\x05"],
  GRIB: ["GRIB"],
  TIFF: ["II*\0", "II+\0", "MM\0*", "MM\0+"],
};

/** Names after which servers are asked for the first bytes of a file. */
const FOREIGN_NAME = /\.(?:nc[34]?|cdf|h5|hdf5?|gri?b2?|tiff?)$/i;

/** The file that stands where a store was looked for, with its format if that is known; undefined where none is found. */
export async function foreignFile(
  spec: StoreSpec,
  signal: AbortSignal | undefined,
): Promise<{ readonly format: string | undefined } | undefined> {
  const parent = parentSpec(spec);
  if (parent === undefined || (spec.kind !== "directory" && !FOREIGN_NAME.test(parent.name)))
    return undefined;
  try {
    const folder = await openStore(parent.spec);
    const start = await folder.get(parent.name, { range: { offset: 0, length: 8 }, signal });
    await folder.close?.();
    if (start === undefined) return undefined;
    const text = String.fromCharCode(...start);
    const isOf = (format: string) => SIGNATURES[format]?.some((at) => text.startsWith(at));
    return { format: Object.keys(SIGNATURES).find(isOf) };
  } catch (error) {
    throwIfAborted(signal);
    if (isZarrflowError(error)) return undefined; // what cannot be read has no format that could be named
    throw error;
  }
}
