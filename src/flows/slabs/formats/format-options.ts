import type { OptionNames } from "../../../util/check-options.ts";
import { DECODE_OPTIONS, type DecodeOptions } from "../decode/decoder.ts";

/** Options for writing slices. */
export interface FormatSliceOptions extends DecodeOptions {
  /** Writes JSON as one flat list instead of lists nested by dimension. */
  readonly flat?: boolean | undefined;
}

export const FORMAT_SLICE_OPTIONS: OptionNames<FormatSliceOptions> = {
  ...DECODE_OPTIONS,
  flat: true,
};
