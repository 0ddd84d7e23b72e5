import type { JsonObject } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { member } from "../assert-json.ts";
import { type DataType, isFixed } from "../data-type.ts";
import type { Finding } from "../format.ts";

/** Prefix of the members that netCDF-C adds, in lower or upper case. */
export const PREFIX = "_nczarr_";

/** True if any member is NCZarr's, which means that netCDF-C wrote the node. */
export function isNcZarr(...members: readonly JsonObject[]): boolean {
  return members.some((object) => Object.keys(object).some((name) => name.toLowerCase().startsWith(PREFIX)));
}

/**
 * Gives `shuffle` the item size that netCDF-C uses: it writes 0 or nothing, and ignores the setting when it reads. In
 * numcodecs, 0 leaves the bytes unchanged. For other arrays, 0 stays and adds a finding, because netCDF-C can also
 * write arrays without its own members (`mode=zarr`).
 */
export function withShuffledItems(
  codecs: readonly CodecConfig[],
  dataType: DataType,
  { isOfNcZarr, findings }: { readonly isOfNcZarr: boolean; readonly findings: Finding[] },
): CodecConfig[] {
  return codecs.map((codec) => {
    const size = member(codec.configuration, "elementsize");
    if (codec.name !== "shuffle" || (size !== 0 && size !== undefined)) return codec;
    if (isOfNcZarr && isFixed(dataType)) return { ...codec, configuration: { elementsize: dataType.size } };
    if (size === 0) {
      findings.push({
        message:
          "`shuffle` with `elementsize` 0 leaves the bytes as they are. If netCDF-C wrote this array, it shuffled them by the item size, and the values read here are wrong",
        ...(codec.stated && { pointer: codec.stated.pointer }),
        kind: "values",
      });
    }
    return codec;
  });
}
