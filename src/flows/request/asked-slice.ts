import { parseSlice, withLabels } from "../../hierarchy/parse-slice.ts";
import type { LabelOptions } from "../../hierarchy/slice-labels.ts";
import type { SliceOption } from "../../hierarchy/slice-option.ts";

/** What is asked for by ranges, or by their text, and by labels. @throws as `parseSlice` and `withLabels` */
export function askedSlice(option: SliceOption | string, { sel }: LabelOptions): SliceOption {
  return withLabels(typeof option === "string" ? parseSlice(option) : option, sel);
}
