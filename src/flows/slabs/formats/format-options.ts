import type { OptionNames } from "../../../util/check-options.ts";
import { DECODE_OPTIONS, type DecodeOptions } from "../decode/decoder.ts";

/** How slices are written. */
export interface FormatSliceOptions extends DecodeOptions {
  /** JSON as one flat list, in place of lists that are nested as the dimensions are. */
  readonly flat?: boolean | undefined;
}

export const FORMAT_SLICE_OPTIONS: OptionNames<FormatSliceOptions> = {
  ...DECODE_OPTIONS,
  flat: true,
};
