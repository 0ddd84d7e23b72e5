import { ZarrflowError } from "../../util/errors.ts";
import type { OptionNames } from "../../util/options.ts";
import { product } from "../../util/shape.ts";
import type { Slab } from "./growing-slab.ts";

/**
 * Writes only the items of slabs, little-endian. Each piece is valid until the next one is requested.
 *
 * @throws `unsupported-operation` for strings and objects.
 */
export async function* rawPieces(slabs: AsyncIterable<Slab>): AsyncGenerator<Uint8Array> {
  for await (const { data } of slabs) {
    if (data.kind === "variable") {
      throw new ZarrflowError("unsupported-operation", "strings and objects have no raw bytes", {
        hint: "Use --format json, csv for strings, or `read().data` in code.",
      });
    }
    yield data.bytes.subarray(0, product(data.shape) * data.itemSize);
  }
}

/** Options for writing slices. */
export interface FormatSliceOptions extends ValueDecodingOptions {
  /** Writes JSON as one flat list instead of lists nested by dimension. */
  readonly flat?: boolean | undefined;
}

export const VALUE_DECODING_OPTIONS: OptionNames<ValueDecodingOptions> = {
  decode: true,
  flags: true,
};

export const FORMAT_SLICE_OPTIONS: OptionNames<FormatSliceOptions> = {
  ...VALUE_DECODING_OPTIONS,
  flat: true,
};

/** Options for decoding the values of an array. */
export interface ValueDecodingOptions {
  /**
   * Applies `scale_factor`, `add_offset`, `_Unsigned`, `_FillValue`, `missing_value`, `valid_range` and the units of
   * times, as xarray does. Default for tables.
   */
  readonly decode?: boolean | undefined;
  /** Replaces flag values by their names; requires `decode`. */
  readonly flags?: boolean | undefined;
}
