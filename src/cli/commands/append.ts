import { ZarrflowError } from "../../util/errors.ts";
import { peakMemory } from "../node-process.ts";
import { planOptions } from "../option-values.ts";
import { defineCommand } from "../parse-arguments.ts";
import { printWarnings, readProgress } from "../progress/event-progress.ts";
import { progressView } from "../progress/view.ts";
import { dryRunOption, outputOptions, readingOptions, writeEmptyChunksOption } from "../shared-options.ts";
import { appendText, toJson } from "../text/results.ts";

export const command = defineCommand({
  usage: "SRC DST --dim NAME",
  notes: [
    "When SRC is a group, every array that has the dimension grows; all others must be equal in SRC and DST. Data",
    "types, chunks and codecs stay as they are in DST. Coordinates must continue where DST ends, in the same units",
    "and calendar.",
    "Only partly filled chunks at the old edge are rewritten. Until all chunks are written, readers see DST as it",
    "was. If a run is killed, repeat the command to complete it. DST must be a folder or a bucket.",
  ],
  operands: [2, 2],
  options: {
    dim: {
      type: "string",
      value: "NAME",
      summary: "the dimension to append along; for an array without dimension names, its number, such as 0",
    },
    ...readingOptions,
    ...writeEmptyChunksOption,
    ...dryRunOption,
    ...outputOptions,
  },
  examples: [
    { line: "append july.zarr era5.zarr --dim time", says: "add a month to a group" },
    {
      line: "append july.zarr era5.zarr --dim time --dry-run",
      says: "check that the two fit together, without writing anything",
    },
    { line: "append part2.zarr/t2m all.zarr/t2m --dim 0", says: "one array whose dimensions have no names" },
  ],
  async run([source = "", target = ""], values, terminal) {
    const { dim, json, quiet } = values;
    if (dim === undefined) {
      throw new ZarrflowError("invalid-option", "append requires --dim", {
        hint: "Name the dimension along which DST grows, such as --dim time.",
      });
    }
    const { append } = await import("../../flows/append.ts");
    const view = progressView(terminal.errors, { quiet, noLines: json });
    const onEvent = printWarnings(
      terminal,
      values,
      readProgress((advance) => view.show(advance)),
    );
    const dryRun = values["dry-run"] === true;
    const writeEmptyChunks = values["write-empty-chunks"] === true;
    const options = { ...planOptions(values, terminal.signal), dim, dryRun, writeEmptyChunks, onEvent };
    const report = await append(source, target, options).finally(() => view.stop());
    const peak = peakMemory();
    if (json) await terminal.write(`${toJson({ ...report, dryRun, peakMemory: peak }, 2)}\n`);
    else if (dryRun) await terminal.write(`${appendText(report, target, { dryRun, peak })}\n`);
    else if (!quiet) terminal.printLine(appendText(report, target, { dryRun, peak }));
  },
});
