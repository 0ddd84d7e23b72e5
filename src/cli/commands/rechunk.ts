import { ZarrflowError } from "../../util/errors.ts";
import { changesOf } from "../option-values.ts";
import { assertNamedAsZarr } from "../output-names.ts";
import { defineCommand } from "../parse-arguments.ts";
import { planAndRun } from "../plan-and-run.ts";
import { changingOptions, filterOptions, outputOptions, writingOptions } from "../shared-options.ts";

export const command = defineCommand({
  usage: "SRC DST --chunks SIZES",
  notes: [
    "In a group, every array that has all the named dimensions is rechunked, except 1-D coordinates named after",
    "their dimension; everything else is copied unchanged. Other dimensions keep their chunk size. DST appears",
    "under its name only when it is complete.",
  ],
  elsewhere: {
    slice: "Use `zarrflow slice SRC DST --slice RANGES --chunks SIZES`.",
    update: "--update is available only in `zarrflow copy`, which leaves arrays as they are.",
  },
  operands: [2, 2],
  options: { ...changingOptions, ...filterOptions, ...writingOptions, ...outputOptions },
  examples: [
    {
      line: "rechunk era5.zarr series.zarr --chunks time=-1,latitude=11,longitude=7",
      says: "from maps to time series",
    },
    {
      line: "rechunk era5.zarr/t2m t2m.zarr.zip --chunks 744,11,7 --max-mem 64MB",
      says: "one array, with sizes in the order of its dimensions, into a zip, within 64 MB",
    },
    {
      line: "rechunk era5.zarr out.zarr --chunks t2m:time=-1 --chunks u10:time=24 --dry-run",
      says: "preview the plan and its cost, with a different chunk shape per array",
    },
    {
      line: "rechunk era5.zarr/t2m t2m.zarr --chunks 24,11,7 --shards 744,33,49 --to v3",
      says: "small chunks, stored in shards of one file each",
    },
  ],
  async run([source = "", target = ""], values, terminal) {
    assertNamedAsZarr(target);
    if (values.chunks === undefined) {
      throw new ZarrflowError("invalid-option", "rechunk requires --chunks", {
        hint: "Give sizes, such as --chunks time=744,lat=11. To change only the codec, use `zarrflow copy --codec`.",
      });
    }
    return planAndRun(source, target, changesOf(values), values, terminal);
  },
});
