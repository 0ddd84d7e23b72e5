import type { DigestTree } from "../../flows/digest/tree-hash.ts";
import type { ArrayDigest, BrokenDigest, DigestTreeOptions, TreePart } from "../../flows/digest.ts";
import { printable } from "../../flows/text/format.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { parseWholeNumber } from "../../util/numbers.ts";
import { redact } from "../../util/redact.ts";
import { planOptions } from "../option-values.ts";
import { defineCommand, FAILED } from "../parse-arguments.ts";
import { printWarnings, readProgress } from "../progress/event-progress.ts";
import { progressView } from "../progress/view.ts";
import { outputOptions, readingOptions, strategyOptions, withEffect } from "../shared-options.ts";
import { toJson, treeDigestLines, writeJsonList } from "../text/results.ts";

export const command = defineCommand({
  usage: "URL",
  notes: [
    "The digest covers the items in C order, little-endian: it does not depend on chunks, codecs or format. For",
    "text and other items of variable size it covers the length, as 8 bytes little-endian, then the bytes. If an",
    "array has a missing value by the CF conventions, a second line shows it. For output that programs read, use",
    "--json.",
    "If an array of a group cannot be read, the reason is printed, the other arrays are digested, and the exit code",
    "is 1. With --tree the command fails instead, because the digest of the group would not cover the array.",
    "With --tree, items are hashed in cells of about 1 MiB, whose shape depends only on the shape and data type of",
    "the array. Parts can be hashed on several machines: --part 1/2 --json > 1.json, then --merge 1.json 2.json.",
  ],
  operands: [1, Number.POSITIVE_INFINITY],
  options: {
    tree: {
      type: "boolean",
      summary: "print a tree of digests: of cells, of arrays, and of the whole group",
    },
    cells: {
      type: "boolean",
      effect: { with: ["tree"] },
      summary: "with --tree: also print the digest and range of each cell, to find where arrays differ",
    },
    part: {
      type: "string",
      value: "N/M",
      effect: { with: ["tree"], without: ["merge"] },
      summary: "with --tree: hash and print only the cells of part N of M",
    },
    merge: {
      type: "boolean",
      effect: { with: ["tree"] },
      summary: "with --tree: read JSON files of parts in place of URL, and print the combined tree",
    },
    ...withEffect({ ...readingOptions, ...strategyOptions }, { without: ["merge"] }),
    ...outputOptions,
  },
  examples: [
    {
      line: "digest era5.zarr",
      says: "one line per array with digest and path; a second one for its missing value, if any",
    },
    { line: "digest era5.zarr/t2m --max-mem 64MB", says: "one array, with less memory" },
    { line: "digest era5.zarr --json", says: "a JSON list, with type and shape" },
    { line: "digest era5.zarr --tree --cells", says: "the digests of all cells, arrays, and the group" },
  ],
  async run(operands, { tree, cells, part, merge, ...values }, terminal) {
    const [url = "", ...more] = operands;
    if (!merge && more.length > 0) throw invalid(`too many operands: \`${more[0]}\` is not expected`);
    const { quiet, json } = values;
    const print = async (digests: DigestTree) => {
      if (json) return terminal.write(`${toJson(digests)}\n`);
      const name = merge ? "." : redact(url);
      for (const line of treeDigestLines(digests, { name, withCells: cells || part !== undefined }))
        await terminal.write(line);
    };
    if (merge) return print(await mergedFiles(operands));
    const reading = planOptions(values, terminal.signal);
    const whatPart = part === undefined ? {} : { part: parsePart(part) };
    const view = progressView(terminal.errors, { quiet: quiet || terminal.isOutputSeen, noLines: json });
    const showRead = readProgress((advance) => view.show(advance));
    const onEvent = printWarnings(terminal, values, showRead);
    const options: DigestTreeOptions = { ...reading, onEvent };
    try {
      if (tree) {
        const { digestTree } = await import("../../flows/digest.ts");
        return await print(await digestTree(url, { ...options, cells: cells ?? false, ...whatPart }));
      }
      const { digest } = await import("../../flows/digest.ts");
      let areBroken = false;
      const digests = withBroken((onBroken) => digest(url, { ...options, onBroken }));
      async function* noted() {
        for await (const found of digests) {
          areBroken ||= "error" in found;
          yield found;
        }
        if (areBroken) terminal.endWith(FAILED);
      }
      if (json) return await writeJsonList(noted(), terminal);
      for await (const found of noted()) {
        if ("error" in found) {
          terminal.printLine(
            `${printable(found.path)}: no digest, because it cannot be read: ${printable(found.error)}`,
          );
          continue;
        }
        const { sha256, path, missingValue } = found;
        const missing = missingValue === undefined ? "" : `missing value ${printable(missingValue)}\n`;
        await terminal.write(`${sha256}  ${printable(path || redact(url))}\n${missing}`);
      }
    } finally {
      view.stop();
    }
  },
});

interface BrokenNode {
  readonly path: string;
  readonly error: string;
}

/** Yields the digests and, between them, the nodes that cannot be read, with the reason as text. */
async function* withBroken(
  digestsOf: (onBroken: (broken: BrokenDigest) => void) => AsyncIterable<ArrayDigest>,
): AsyncGenerator<ArrayDigest | BrokenNode> {
  const broken: BrokenNode[] = [];
  for await (const found of digestsOf(({ path, error }) => broken.push({ path, error: error.message }))) {
    yield* broken.splice(0);
    yield found;
  }
  yield* broken;
}

async function mergedFiles(paths: readonly string[]): Promise<DigestTree> {
  const { mergeDigestTrees } = await import("../../flows/digest/merge-trees.ts");
  const { readFile } = await import("node:fs/promises");
  const trees: DigestTree[] = [];
  for (const path of paths) {
    try {
      trees.push(JSON.parse(await readFile(path, "utf8")));
    } catch (error) {
      throw invalid(`the tree in \`${path}\` cannot be read`, error);
    }
  }
  return mergeDigestTrees(trees);
}

function parsePart(text: string): TreePart {
  const [number, of, ...more] = text.split("/").map(parseWholeNumber);
  if (number === undefined || of === undefined || more.length > 0 || number < 1 || number > of)
    throw invalid(`invalid value for --part: ${text} (expected N/M, such as 2/8)`);
  return { number, of };
}

function invalid(reason: string, cause?: unknown): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, {}, { cause });
}
