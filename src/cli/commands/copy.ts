import { copyChangesOf } from "../option-values.ts";
import { assertNamedAsZarr } from "../output-names.ts";
import { defineCommand } from "../parse-arguments.ts";
import { planAndRun } from "../plan-and-run.ts";
import {
  changingOptions,
  filterOptions,
  outputOptions,
  updateOption,
  writingOptions,
} from "../shared-options.ts";

export const command = defineCommand({
  usage: "SRC DST",
  notes: [
    "Without --codec, --chunks, --shards or --to, every key is copied unchanged. DST appears under its name only",
    "when it is complete. A DST that ends in .zip is written as a zip.",
    "",
    "A GLOB without a slash matches names at any depth (t2m, *.txt, {t2m,u10}); one with a slash matches paths",
    "below SRC (/2024, 2024/*/t2m). A match includes everything below it. Arrays are copied whole, with their",
    "groups, their coordinates and other arrays that their attributes name (--alone omits these).",
    "",
    "--if-exists skip and --update change an existing folder or bucket in place. With skip, existing nodes stay as",
    "they are. With --update, an array cannot be read while any of its chunks is being replaced.",
  ],
  elsewhere: {
    slice: "Use `zarrflow slice SRC DST --slice RANGES`.",
    format: "Use --to v2 or --to v3. `zarrflow slice --format` writes other kinds of files.",
    recursive: "Omit it. Groups are always copied with everything below them.",
    r: "Omit it. Groups are always copied with everything below them.",
  },
  operands: [2, 2],
  options: {
    ...filterOptions,
    ...updateOption,
    ...changingOptions,
    ...writingOptions,
    ...outputOptions,
  },
  examples: [
    {
      line: "copy era5.zarr era5.zarr.zip",
      says: "pack a folder into a zip; chunks stay unchanged",
    },
    { line: "copy era5.zarr.zip/t2m t2m.zarr --verify", says: "one array, read back before it is published" },
    { line: "copy era5.zarr small.zarr --codec zstd:5", says: "the same chunks, compressed with zstd" },
    { line: "copy era5.zarr era5.v3.zarr --to v3", says: "the same chunks, as Zarr v3" },
    {
      line: "copy era5.zarr s3://bucket/era5.zarr --update",
      says: "upload only what changed since the last copy",
    },
    {
      line: "copy era5.zarr some.zarr --include t2m --exclude '*.txt' --dry-run",
      says: "preview a copy of one array and its groups",
    },
  ],
  async run([source = "", target = ""], values, terminal) {
    assertNamedAsZarr(target);
    return planAndRun(source, target, copyChangesOf(values), values, terminal);
  },
});
