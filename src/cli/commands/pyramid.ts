import { PYRAMID_METHODS } from "../../flows/pyramid/reduce-blocks.ts";
import type { CodecText } from "../../meta/codec-option.ts";
import { wholeNumber } from "../../util/decimal.ts";
import { planOptions } from "../option-values.ts";
import { assertNamedAsZarr } from "../output-names.ts";
import { defineCommand } from "../parse-arguments.ts";
import { peakMemory } from "../peak-memory.ts";
import { readProgress } from "../progress/event-progress.ts";
import { progressView } from "../progress/view.ts";
import {
  codecOption,
  dryRunOption,
  existingOptions,
  formatOptions,
  outputOptions,
  readingOptions,
  writeEmptyOption,
} from "../shared-options.ts";
import { toJson } from "../text/json.ts";
import { pyramidText } from "../text/results.ts";
import { printWarnings } from "../text/warning.ts";

export const command = defineCommand({
  usage: "SRC DST",
  notes: [
    "An array, or a group that is an OME-Zarr image, becomes an OME-Zarr image: 0.4 in Zarr v2, 0.5 in v3, and",
    "0.6 of an image of 0.6. Its axes z, y and x shrink. One level of an image is that image, from that level on.",
    "Any other group becomes a group for each level, described by the convention `multiscales` of GeoZarr; its",
    "dimensions of latitude, longitude, y and x shrink. Chunks stay as they are in SRC; so do codecs and format,",
    "without --codec and --to.",
    "",
    "mean, mode, min and max leave missing items out (NaN, _FillValue); a block of nothing else is missing. Means",
    "of integers are rounded, halves to the even one. nearest takes the first item of each block.",
    "SRC is read once. DST appears under its name when it is complete, or not at all.",
  ],
  elsewhere: { chunks: "Levels have the chunks of SRC: rechunk it first, with `zarrflow rechunk`." },
  operands: [2, 2],
  options: {
    factor: {
      type: "string",
      value: "N|SIZES",
      summary: "items that become one in the next level: 2, or by axis z=1,y=2,x=2; 2 by default",
    },
    method: {
      type: "string",
      value: PYRAMID_METHODS.join("|"),
      choices: PYRAMID_METHODS,
      summary:
        "how a block of items becomes one; by default mode for labels, masks (bool) and arrays with flags of CF, and mean for all others",
    },
    levels: {
      type: "string",
      value: "N|auto",
      suggestions: ["auto"],
      summary:
        "number of levels, the whole one among them; by default (auto) until each axis that shrinks is one chunk",
    },
    axes: {
      type: "string",
      value: "NAMES",
      summary: "the axes of an array that does not name them itself, in order: tczyx, zyx",
    },
    ...codecOption,
    to: { ...formatOptions.to, value: "v2|v3", choices: ["v2", "v3"] },
    ...readingOptions,
    ...existingOptions,
    ...writeEmptyOption,
    ...dryRunOption,
    ...outputOptions,
  },
  examples: [
    { line: "pyramid image.zarr/0 pyramid.zarr --axes zyx", says: "an OME-Zarr image from one array" },
    {
      line: "pyramid cells.ome.zarr small.ome.zarr --factor z=1,y=2,x=2 --levels 5",
      says: "five levels of an image, whose planes stay",
    },
    {
      line: "pyramid era5.zarr maps.zarr --levels 3 --codec zstd:5 --to v3",
      says: "a data set in Zarr v3, compressed by zstd",
    },
    {
      line: "pyramid era5.zarr maps.zarr --levels 3 --dry-run",
      says: "the levels of a data set, and their memory",
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
    const writeEmpty = values["write-empty"] === true;
    const levels = values.levels === undefined ? undefined : (wholeNumber(values.levels) ?? values.levels);
    const options = {
      ...reading,
      ...(factor !== undefined && { factor }),
      ...(method && { method }),
      ...(levels !== undefined && { levels: levels as number | "auto" }),
      ...(axes !== undefined && { axes }),
      ...(codec !== undefined && { codec: codec as CodecText }),
      ...(to && { to }),
      ...(ifExists && ifExists !== "update" && { ifExists }),
      ...{ dryRun, writeEmpty, onEvent },
    };
    const report = await pyramid(source, target, options).finally(() => view.stop());
    const peak = peakMemory();
    if (json) await terminal.write(`${toJson({ ...report, dryRun, peakMemory: peak }, 2)}\n`);
    else if (dryRun) await terminal.write(`${pyramidText(report, target, { dryRun, peak })}\n`);
    else if (!quiet) terminal.printLine(pyramidText(report, target, { dryRun, peak }));
  },
});
