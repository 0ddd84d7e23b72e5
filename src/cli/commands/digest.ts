import { defineCommand } from "../command.ts";
import { readProgress } from "../progress/read-progress.ts";
import { progressView } from "../progress/view.ts";
import { outputOptions, planOptions, readingOptions, strategyOptions } from "../shared-options.ts";
import { summaries } from "../summaries.ts";
import { writeJsonList } from "../text/json.ts";
import { printable } from "../text/printable.ts";
import { printWarnings } from "../text/warning.ts";

export const command = defineCommand({
  summary: summaries.digest,
  usage: "URL",
  notes: [
    "The digest covers the items in C order, little-endian: it does not depend on chunks, codecs or format. For",
    "text and other items of variable size it covers the length, as 8 bytes little-endian, then the bytes.",
    "A second line shows the missing value that readers of the CF conventions use, if there is one. For a program",
    "that reads the output, use --json.",
  ],
  operands: [1, 1],
  options: { ...readingOptions, ...strategyOptions, ...outputOptions },
  examples: [
    {
      line: "digest era5.zarr",
      says: "a line for each array: digest and path; then one for its missing value, if it has one",
    },
    { line: "digest era5.zarr/t2m --max-mem 64MB", says: "one array, within less memory" },
    { line: "digest era5.zarr --json", says: "a JSON list, with type and shape" },
  ],
  async run([url = ""], values, terminal) {
    const { digest } = await import("../../flows/digest.ts");
    const { quiet, json } = values;
    const options = planOptions(values, terminal.signal);
    const view = progressView(terminal.errors, { quiet: quiet || terminal.isOutputSeen, noLines: json });
    const showRead = readProgress((advance) => view.show(advance));
    const onEvent = printWarnings(terminal, { quiet }, showRead);
    const digests = digest(url, { ...options, onEvent });
    try {
      if (json) return await writeJsonList(digests, terminal);
      for await (const { sha256, path, missingValue } of digests) {
        const missing = missingValue === undefined ? "" : `missing value ${printable(missingValue)}\n`;
        await terminal.write(`${sha256}  ${printable(path || url)}\n${missing}`);
      }
    } finally {
      view.stop();
    }
  },
});
