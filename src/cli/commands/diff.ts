import type { Difference } from "../../flows/diff.ts";
import { EXIT_CODES } from "../../util/errors.ts";
import { planOptions } from "../option-values.ts";
import { defineCommand, FAILED } from "../parse-arguments.ts";
import { printWarnings, readProgress } from "../progress/event-progress.ts";
import { progressView } from "../progress/view.ts";
import { outputOptions, readingOptions } from "../shared-options.ts";
import { type DifferenceCounts, differenceText, diffSummary } from "../text/findings.ts";
import { writeJsonList } from "../text/results.ts";

export const command = defineCommand({
  usage: "A B",
  notes: [
    "Values are compared byte by byte, within the memory budget; attributes as JSON; keys that are not part of",
    "Zarr, such as OME/METADATA.ome.xml, byte for byte. Differences of format, chunks and codecs are shown, but",
    "count only with --strict.",
    "The exit code is 6 if anything that counts differs, and 1 if a node or a key cannot be read; everything else",
    "is still compared.",
  ],
  operands: [2, 2],
  options: {
    values: {
      type: "boolean",
      summary: "compare only nodes, shapes, data types and values: no attributes, and no keys outside Zarr",
    },
    strict: { type: "boolean", summary: "also count differences of format, chunks and codecs" },
    ...readingOptions,
    ...outputOptions,
  },
  examples: [
    { line: "diff era5.zarr era5.zarr.zip", says: "check that a copy holds the same values" },
    {
      line: "diff era5.zarr/t2m series.zarr/t2m --max-mem 64MB",
      says: "compare two arrays with different chunks",
    },
    { line: "diff era5.zarr era5.v3.zarr --json", says: "a JSON list with one object per difference" },
  ],
  async run([a = "", b = ""], { strict, values: valuesAlone, json, quiet, ...values }, terminal) {
    const { diff } = await import("../../flows/diff.ts");
    const options = {
      ...planOptions(values, terminal.signal),
      ...(strict && { strict }),
      ...(valuesAlone && { values: true }),
    };
    const view = progressView(terminal.errors, { quiet: quiet || terminal.isOutputSeen, noLines: json });
    const showRead = readProgress((advance) => view.show(advance));
    const onEvent = printWarnings(terminal, values, showRead);
    const differences = diff(a, b, { ...options, onEvent });
    const counts = { counting: 0, others: 0, broken: 0 };
    async function* counted() {
      for await (const difference of differences) {
        counts[kindOf(difference)]++;
        yield difference;
      }
    }
    try {
      if (json) await writeJsonList(counted(), terminal);
      else for await (const difference of counted()) await terminal.write(differenceText(difference, a));
    } finally {
      view.stop();
    }
    if (!json && !quiet) terminal.printLine(diffSummary(counts));
    if (counts.broken > 0) terminal.endWith(FAILED);
    else if (counts.counting > 0) terminal.endWith(EXIT_CODES.differs);
  },
});

function kindOf({ what, counts }: Difference): keyof DifferenceCounts {
  if (what === "broken") return "broken";
  return counts ? "counting" : "others";
}
