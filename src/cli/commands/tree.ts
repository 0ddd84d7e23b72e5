import type { TreeNode } from "../../flows/tree.ts";
import { redact } from "../../util/redact.ts";
import { accessOf } from "../option-values.ts";
import { defineCommand, FAILED } from "../parse-arguments.ts";
import { accessOptions, outputOptions } from "../shared-options.ts";
import type { Terminal } from "../terminal.ts";
import { writeJsonList } from "../text/json.ts";
import { isAsciiLocale, treeText } from "../text/tree.ts";

/** The command reads no chunk keys, so it needs no separator. */
const { "v2-separator": _, ...treeAccess } = accessOptions;

export const command = defineCommand({
  usage: "URL",
  notes: [
    "`implied` is a folder without a metadata document that has nodes below it. Warnings about a node's metadata",
    "follow it after a `!`; `zarrflow validate` checks more. A node that cannot be read is listed as `broken`; the",
    "others are still shown, and the exit code is 1.",
  ],
  operands: [1, 1],
  options: {
    ascii: {
      type: "boolean",
      effect: { without: ["json"] },
      summary: "draw with ASCII characters only; the default in locales without UTF-8",
    },
    ...treeAccess,
    ...outputOptions,
  },
  examples: [
    { line: "tree era5.zarr", says: "a whole hierarchy" },
    { line: "tree era5.zarr.zip/surface --ascii", says: "a group in a zip, drawn with ASCII characters" },
    { line: "tree era5.zarr --json", says: "a JSON list with one object per node" },
  ],
  async run([url = ""], values, terminal) {
    const { tree } = await import("../../flows/tree.ts");
    const nodes = failingWhereBroken(tree(url, { ...accessOf(values), signal: terminal.signal }), terminal);
    if (values.json) return writeJsonList(nodes, terminal);
    const all = [];
    for await (const node of nodes) all.push(node);
    return terminal.write(treeText(all, redact(url), { ascii: values.ascii || isAsciiLocale(process.env) }));
  },
});

/** Passes nodes on. A broken node makes the command fail. */
async function* failingWhereBroken(
  nodes: AsyncIterable<TreeNode>,
  { endWith }: Terminal,
): AsyncGenerator<TreeNode> {
  for await (const node of nodes) {
    if (node.kind === "broken") endWith(FAILED);
    yield node;
  }
}
