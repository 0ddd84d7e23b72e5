import { defineCommand } from "../command.ts";
import { runPlanned } from "../run-flow.ts";
import { chunksOption, codecOption, planOptions, tellingOptions, writingOptions } from "../shared-options.ts";

export const command = defineCommand({
  summary: "copy an array, or a group with all below it, byte for byte or with another codec",
  usage: "SRC DST",
  notes: [
    "Without --codec and --chunks every key is copied as it is. DST appears whole under its name when all is",
    "done, or not at all. A DST that ends in .zip is written as a zip.",
  ],
  operands: [2, 2],
  options: { ...codecOption, ...chunksOption, ...writingOptions, ...tellingOptions },
  examples: [
    {
      line: "copy era5.zarr era5.zarr.zip",
      says: "pack a folder into a zip, and every chunk stays as it is",
    },
    { line: "copy era5.zarr.zip/t2m t2m.zarr --verify", says: "one array, read back before it appears" },
    { line: "copy era5.zarr small.zarr --codec zstd:5", says: "the same chunks, compressed with zstd" },
  ],
  async run([source = "", target = ""], values, terminal) {
    const options = planOptions(values, terminal.signal);
    const { codec, chunks } = values;
    if (codec === undefined && chunks === undefined) {
      const { planCopy } = await import("../../flows/copy.ts");
      return runPlanned(await planCopy(source, target, options), values, terminal);
    }
    const { planRechunk } = await import("../../flows/rechunk.ts");
    const changes = { chunks: chunks ?? {}, ...(codec !== undefined && { codec }) };
    return runPlanned(await planRechunk(source, target, { ...options, ...changes }), values, terminal);
  },
});
