import { defineCommand } from "../define-command.ts";
import { accessOf } from "../option-values.ts";
import { accessOptions, outputOptions } from "../shared-options.ts";
import { arrayInfoText } from "../text/array-info.ts";
import { writeJsonList } from "../text/json.ts";
import { printWarnings } from "../text/warning.ts";

export const command = defineCommand({
  usage: "URL",
  operands: [1, 1],
  options: { ...accessOptions, ...outputOptions },
  examples: [
    { line: "info era5.zarr", says: "every array of a group" },
    { line: "info era5.zarr.zip/t2m", says: "one array in a zip" },
    { line: "info era5.zarr --json", says: "a JSON list with an object for each array" },
  ],
  async run([url = ""], values, terminal) {
    const { info } = await import("../../flows/info.ts");
    const onEvent = printWarnings(terminal, values);
    const infos = info(url, { ...accessOf(values), signal: terminal.signal, onEvent });
    if (values.json) return writeJsonList(infos, terminal);
    let separator = "";
    for await (const each of infos) {
      await terminal.write(separator + arrayInfoText(each, url));
      separator = "\n";
    }
    if (separator === "" && !values.quiet) terminal.printLine(`no arrays in ${url}`);
  },
});
