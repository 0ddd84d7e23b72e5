import { redact } from "../../util/redact.ts";
import { accessOf } from "../option-values.ts";
import { defineCommand, FAILED } from "../parse-arguments.ts";
import { accessOptions, outputOptions } from "../shared-options.ts";
import { nodeInfoText } from "../text/array-info.ts";
import { writeJsonList } from "../text/json.ts";
import { printWarnings } from "../text/warning.ts";

export const command = defineCommand({
  usage: "URL",
  notes: [
    "For a group, shows its attributes and those of the groups below it, then the totals of all arrays. A node that",
    "cannot be read is listed as `broken`; the others are still shown, and the exit code is 1.",
  ],
  operands: [1, 1],
  options: { ...accessOptions, ...outputOptions },
  examples: [
    { line: "info era5.zarr", says: "every array of a group, and the totals" },
    { line: "info era5.zarr.zip/t2m", says: "one array in a zip" },
    { line: "info era5.zarr --json", says: "a JSON list with one object per node, `kind` first" },
  ],
  async run([url = ""], values, terminal) {
    const { info } = await import("../../flows/info.ts");
    const onEvent = printWarnings(terminal, values);
    const options = { ...accessOf(values), signal: terminal.signal, onEvent };
    let arrays = 0;
    async function* noted() {
      for await (const node of info(url, { ...options, all: true })) {
        if (node.kind === "broken") terminal.endWith(FAILED);
        if (node.kind === "array") arrays++;
        yield node;
      }
    }
    if (values.json) return writeJsonList(noted(), terminal);
    let separator = "";
    for await (const node of noted()) {
      if (node.kind === "totals" && arrays === 0) continue;
      await terminal.write(separator + nodeInfoText(node, redact(url)));
      separator = "\n";
    }
    if (arrays === 0 && !values.quiet) terminal.printLine(`no arrays in ${url}`);
  },
});
