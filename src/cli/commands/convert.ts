import { ZarrflowError } from "../../util/errors.ts";
import { changesOf } from "../option-values.ts";
import { assertNamedAsZarr } from "../output-names.ts";
import { defineCommand } from "../parse-arguments.ts";
import { planAndRun } from "../plan-and-run.ts";
import {
  codecOption,
  filterOptions,
  formatOptions,
  outputOptions,
  writingOptions,
} from "../shared-options.ts";
import { valueOptions } from "../value-options.ts";

export const command = defineCommand({
  usage: "SRC DST --to v1|v2|v3-draft-2019|v3",
  notes: [
    "Chunks whose bytes mean the same in both formats are copied unchanged. Metadata that the target format cannot",
    "represent is rejected, with its JSON pointer, unless listed in --allow-loss. Dimension names and missing",
    "values are written where xarray reads them in the target format (_ARRAY_DIMENSIONS, _FillValue).",
    "To change chunks as well, use `copy --to` with --chunks.",
  ],
  elsewhere: {
    chunks: "Use `zarrflow copy SRC DST --to v3 --chunks SIZES`.",
    shards: "Use `zarrflow copy SRC DST --to v3 --shards SIZES`.",
    slice: "Use `zarrflow slice SRC DST --slice RANGES --to v3`.",
    update: "--update is available only in `zarrflow copy`, which leaves arrays as they are.",
  },
  operands: [2, 2],
  options: {
    ...formatOptions,
    to: { ...formatOptions.to, summary: "the format to write" },
    ...codecOption,
    ...valueOptions,
    ...filterOptions,
    ...writingOptions,
    ...outputOptions,
  },
  examples: [
    { line: "convert era5.zarr era5.v3.zarr --to v3", says: "from v2 to v3" },
    {
      line: "convert era5.v3.zarr old.zarr --to v2 --allow-loss /attributes/note,/dimension_names",
      says: "from v3 to v2, dropping what v2 cannot represent",
    },
    {
      line: "convert era5.v3.zarr/t2m t2m.v1 --to v1 --codec blosc",
      says: "one array, with a codec that v1 supports",
    },
    {
      line: "convert era5.zarr era5.v3.zarr --to v3 --dry-run",
      says: "show which arrays would be copied and which would be decoded",
    },
  ],
  async run([source = "", target = ""], values, terminal) {
    assertNamedAsZarr(target);
    if (values.to === undefined) {
      throw new ZarrflowError("invalid-option", "convert requires --to", {
        hint: "Write --to v1, --to v2 or --to v3.",
      });
    }
    return planAndRun(source, target, changesOf(values), values, terminal);
  },
});
