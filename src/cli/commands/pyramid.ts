import { PYRAMID_METHODS } from "../../flows/pyramid/reduce-blocks.ts";
import type { CodecText } from "../../meta/codec-option.ts";
import { parseWholeNumber } from "../../util/numbers.ts";
import { peakMemory } from "../node-process.ts";
import { planOptions } from "../option-values.ts";
import { assertNamedAsZarr } from "../output-names.ts";
import { defineCommand } from "../parse-arguments.ts";
import { printWarnings, readProgress } from "../progress/event-progress.ts";
import { progressView } from "../progress/view.ts";
import {
  codecOption,
  dryRunOption,
  existingOptions,
  formatOptions,
  outputOptions,
  readingOptions,
  writeEmptyChunksOption,
} from "../shared-options.ts";
import { pyramidText, toJson } from "../text/results.ts";

export const command = defineCommand({
  usage: "SRC DST",
  notes: [
    "An array, or a group that is an OME-Zarr image, becomes an OME-Zarr image: version 0.4 in Zarr v2, 0.5 in v3,",
    "and 0.6 if SRC is an image of 0.6. Its axes z, y and x shrink. To build the levels on top of one level of an",
    "image, name that level as SRC.",
    "Any other group becomes a group per level, described by the GeoZarr convention `multiscales`; its dimensions",
    "of latitude, longitude, y and x shrink. Chunks stay as they are in SRC, and so do codecs and format unless",
    "--codec or --to changes them.",
    "",
    "mean, mode, min and max ignore missing items (NaN, _FillValue); a block of nothing else becomes missing. Means",
    "of integers are rounded half to even. nearest takes the first item of each block.",
    "SRC is read once. DST appears under its name only when it is complete.",
  ],
  elsewhere: { chunks: "Levels have the chunks of SRC: rechunk it first, with `zarrflow rechunk`." },
  operands: [2, 2],
  options: {
    factor: {
      type: "string",
      value: "N|SIZES",
      summary: "number of items that become one in the next level: 2, or per axis z=1,y=2,x=2; 2 by default",
    },
    method: {
      type: "string",
      value: PYRAMID_METHODS.join("|"),
      choices: PYRAMID_METHODS,
      summary:
        "how a block of items becomes one; by default mode for labels, masks (bool) and arrays with CF flags, mean for all others",
    },
    levels: {
      type: "string",
      value: "N|auto",
      suggestions: ["auto"],
      summary:
        "number of levels, including the full resolution; by default (auto) until each shrinking axis fits one chunk",
    },
    axes: {
      type: "string",
      value: "NAMES",
      summary: "the axes, in order, of an array that does not name them: tczyx, zyx",
    },
    ...codecOption,
    to: { ...formatOptions.to, value: "v2|v3", choices: ["v2", "v3"] },
    ...readingOptions,
    ...existingOptions,
    ...writeEmptyChunksOption,
    ...dryRunOption,
    ...outputOptions,
  },
  examples: [
    { line: "pyramid image.zarr/0 pyramid.zarr --axes zyx", says: "an OME-Zarr image from one array" },
    {
      line: "pyramid cells.ome.zarr small.ome.zarr --factor z=1,y=2,x=2 --levels 5",
      says: "five levels of an image, keeping its z planes",
    },
    {
      line: "pyramid era5.zarr maps.zarr --levels 3 --codec zstd:5 --to v3",
      says: "a dataset, written as Zarr v3 with zstd",
    },
    {
      line: "pyramid era5.zarr maps.zarr --levels 3 --dry-run",
      says: "preview the levels of a dataset and the memory they take",
    },
  ],
  async run([source = "", target = ""], values, terminal) {
    assertNamedAsZarr(target);
    const { factor, method, axes, codec, to, json, quiet } = values;
    const { pyramid } = await import("../../flows/pyramid.ts");
    const view = progressView(terminal.errors, { quiet, noLines: json });
    const onEvent = printWarnings(
      terminal,
      values,
      readProgress((advance) => view.show(advance)),
    );
    const { ifExists, ...reading } = planOptions(values, terminal.signal);
    const dryRun = values["dry-run"] === true;
    const writeEmptyChunks = values["write-empty-chunks"] === true;
    const levels =
      values.levels === undefined ? undefined : (parseWholeNumber(values.levels) ?? values.levels);
    const options = {
      ...reading,
      ...(factor !== undefined && { factor }),
      ...(method && { method }),
      ...(levels !== undefined && { levels: levels as number | "auto" }),
      ...(axes !== undefined && { axes }),
      ...(codec !== undefined && { codec: codec as CodecText }),
      ...(to && { to }),
      ...(ifExists && ifExists !== "update" && { ifExists }),
      ...{ dryRun, writeEmptyChunks, onEvent },
    };
    const report = await pyramid(source, target, options).finally(() => view.stop());
    const peak = peakMemory();
    if (json) await terminal.write(`${toJson({ ...report, dryRun, peakMemory: peak }, 2)}\n`);
    else if (dryRun) await terminal.write(`${pyramidText(report, target, { dryRun, peak })}\n`);
    else if (!quiet) terminal.printLine(pyramidText(report, target, { dryRun, peak }));
  },
});
