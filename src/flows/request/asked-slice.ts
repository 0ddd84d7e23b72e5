import { parseSlice, withLabels } from "../../hierarchy/parse-slice.ts";
import type { LabelOptions, SliceOption } from "../../hierarchy/slice-option.ts";

/** Combines ranges, or their text, with labels. @throws as `parseSlice` and `withLabels` */
export function askedSlice(option: SliceOption | string, { sel }: LabelOptions): SliceOption {
  return withLabels(typeof option === "string" ? parseSlice(option) : option, sel);
}
