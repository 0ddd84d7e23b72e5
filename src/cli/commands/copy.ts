import { defineCommand } from "../command.ts";
import { runPlanned } from "../run-flow.ts";
import {
  changesOf,
  changingOptions,
  planOptions,
  tellingOptions,
  writingOptions,
} from "../shared-options.ts";
import { summaries } from "../summaries.ts";

export const command = defineCommand({
  summary: summaries.copy,
  usage: "SRC DST",
  notes: [
    "Without --codec, --chunks, --shards and --to every key is copied as it is. DST appears whole under its name",
    "when all is done, or not at all. A DST that ends in .zip is written as a zip.",
  ],
  operands: [2, 2],
  options: { ...changingOptions, ...writingOptions, ...tellingOptions },
  examples: [
    {
      line: "copy era5.zarr era5.zarr.zip",
      says: "pack a folder into a zip, and every chunk stays as it is",
    },
    { line: "copy era5.zarr.zip/t2m t2m.zarr --verify", says: "one array, read back before it appears" },
    { line: "copy era5.zarr small.zarr --codec zstd:5", says: "the same chunks, compressed with zstd" },
    { line: "copy era5.zarr era5.v3.zarr --to v3", says: "the same chunks, described as Zarr v3" },
  ],
  async run([source = "", target = ""], values, terminal) {
    const { codec, chunks, shards } = values;
    const options = { ...planOptions(values, terminal.signal), ...changesOf(values) };
    if (codec === undefined && chunks === undefined && shards === undefined) {
      const { planCopy } = await import("../../flows/copy.ts");
      return runPlanned(await planCopy(source, target, options), values, terminal);
    }
    const { planRechunk } = await import("../../flows/rechunk.ts");
    const planned = await planRechunk(source, target, { ...options, chunks: chunks ?? {} });
    return runPlanned(planned, values, terminal);
  },
});
