import type { CleanedLeftover } from "../../flows/clean.ts";
import { printable } from "../../flows/text/format.ts";
import { parseStoreUrl } from "../../stores/url.ts";
import { counted } from "../../util/names.ts";
import { storeAccessOf } from "../option-values.ts";
import { defineCommand } from "../parse-arguments.ts";
import { printWarnings } from "../progress/event-progress.ts";
import { accessOptions, outputOptions } from "../shared-options.ts";
import { writeJsonList } from "../text/results.ts";

export const command = defineCommand({
  usage: "URL",
  notes: [
    "Lists and removes unfinished targets, files and uploads, locks and scratch objects. Leftovers that may belong",
    "to a running command are listed and kept. Files of other programs are never touched.",
  ],
  operands: [1, 1],
  options: {
    "dry-run": { type: "boolean", summary: "list what would be removed, without removing it" },
    "break-lock": {
      type: "boolean",
      summary: "also remove what may belong to a running command; use only when no run is active",
    },
    anonymous: accessOptions.anonymous,
    "missing-403": accessOptions["missing-403"],
    attempts: accessOptions.attempts,
    timeout: accessOptions.timeout,
    ...outputOptions,
  },
  examples: [
    {
      line: "clean era5.zarr --dry-run",
      says: "list what killed runs left in and beside a folder",
    },
    { line: "clean s3://bucket/era5.zarr", says: "also remove unfinished uploads and the lock" },
  ],
  async run([url = ""], values, terminal) {
    const { clean } = await import("../../flows/clean.ts");
    const { json, quiet, "dry-run": dryRun = false, "break-lock": breakLock = false } = values;
    const access = storeAccessOf(values);
    const { noteAccess } = await import("../../flows/request/option-effects.ts");
    noteAccess({ ...access, onEvent: printWarnings(terminal, values) }, [parseStoreUrl(url).spec]);
    let [removed, left] = [0, 0];
    async function* noted() {
      for await (const found of clean(url, {
        ...access,
        dryRun,
        breakLock,
        signal: terminal.signal,
      })) {
        if (found.isRemoved) removed++;
        else left++;
        yield found;
      }
    }
    if (json) return writeJsonList(noted(), terminal);
    for await (const found of noted()) await terminal.write(leftoverText(found, dryRun));
    if (quiet) return;
    const what = `${counted(removed, "leftover")} ${dryRun ? "would be removed" : "removed"}`;
    terminal.printLine(
      left === 0 ? what : `${what}, ${left} kept because they may be in use; --break-lock removes them too`,
    );
  },
});

function leftoverText({ kind, place, isRemoved }: CleanedLeftover, dryRun: boolean): string {
  const what = !isRemoved ? "in use?" : dryRun ? "would remove" : "removed";
  return `${what.padEnd(12)}  ${kind.padEnd(11)}  ${printable(place)}\n`;
}
