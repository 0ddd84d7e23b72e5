import type { ValidateFinding } from "../../flows/validate.ts";
import { redact } from "../../util/redact.ts";
import { planOptions } from "../option-values.ts";
import { defineCommand } from "../parse-arguments.ts";
import { readProgress } from "../progress/event-progress.ts";
import { progressView } from "../progress/view.ts";
import { outputOptions, readingOptions } from "../shared-options.ts";
import { findingSummary, findingText } from "../text/findings.ts";
import { writeJsonList } from "../text/results.ts";

const EXIT_FOUND = 1;

export const command = defineCommand({
  usage: "URL",
  notes: [
    "An `error` makes readers fail or return wrong values; a `warning` affects only some readers. Both set the exit",
    "code to 1.",
    "Nothing is changed without --fix, and no chunk is decoded without --deep.",
    "--fix never changes the values of chunks. A zip is rewritten, with its entries stored uncompressed, and",
    "renamed into place. For findings that remain, the reason is printed.",
  ],
  elsewhere: { repair: "Did you mean `--fix`?" },
  operands: [1, 1],
  options: {
    fix: {
      type: "boolean",
      summary:
        "repair outdated consolidated metadata, chunks outside the grid, duplicate zip entries, leftovers of killed runs, missing separators and bare NaN",
    },
    "dry-run": {
      type: "boolean",
      effect: { with: ["fix"] },
      summary: "with --fix: show what would be done, without changing anything",
    },
    deep: { type: "boolean", summary: "also read and decode every chunk" },
    ...readingOptions,
    "max-mem": { ...readingOptions["max-mem"], effect: { with: ["deep"], warns: true } },
    ...outputOptions,
  },
  examples: [
    { line: "validate era5.zarr", says: "metadata, consolidated metadata, stray keys, chunk sizes" },
    { line: "validate era5.zarr.zip --deep", says: "the same, and also decode every chunk" },
    { line: "validate era5.zarr --fix --dry-run", says: "what --fix would do" },
    { line: "validate era5.zarr --json", says: "a JSON list with one object per finding" },
  ],
  async run(
    [url = ""],
    { deep = false, fix = false, "dry-run": dryRun = false, json, quiet, ...values },
    terminal,
  ) {
    const { validate } = await import("../../flows/validate.ts");
    const options = { ...planOptions(values, terminal.signal), deep, fix, dryRun };
    const view = progressView(terminal.errors, { quiet: quiet || terminal.isOutputSeen, noLines: json });
    const onEvent = readProgress((advance) => view.show(advance));
    const levels: ValidateFinding["level"][] = [];
    async function* noted() {
      for await (const finding of validate(url, { ...options, onEvent })) {
        levels.push(finding.level);
        yield finding;
      }
    }
    try {
      if (json) await writeJsonList(noted(), terminal);
      else for await (const finding of noted()) await terminal.write(findingText(finding, redact(url)));
    } finally {
      view.stop();
    }
    if (!json && !quiet) terminal.printLine(findingSummary(levels));
    if (levels.some((level) => level !== "info")) terminal.endWith(EXIT_FOUND);
  },
});
