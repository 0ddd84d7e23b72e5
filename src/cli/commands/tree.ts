import { formatShape, printable } from "../../flows/text/format.ts";
import type { TreeNode } from "../../flows/tree.ts";
import { lastName } from "../../util/node-path.ts";
import { redact } from "../../util/redact.ts";
import { storeAccessOf } from "../option-values.ts";
import { defineCommand, FAILED } from "../parse-arguments.ts";
import { accessOptions, outputOptions } from "../shared-options.ts";
import type { Terminal } from "../terminal.ts";
import { writeJsonList } from "../text/results.ts";

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
    const nodes = failingWhereBroken(
      tree(url, { ...storeAccessOf(values), signal: terminal.signal }),
      terminal,
    );
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

/** The characters to draw a tree with. */
interface Branches {
  readonly child: string;
  readonly last: string;
  readonly beside: string;
  readonly below: string;
}

const UNICODE: Branches = { child: "├── ", last: "└── ", beside: "│   ", below: "    " };
const ASCII: Branches = { child: "|-- ", last: "`-- ", beside: "|   ", below: "    " };

/** Draws nodes, parents first: a line for each node and each finding. `name` stands for the root, which has no path. */
export function treeText(nodes: readonly TreeNode[], name: string, { ascii = false } = {}): string {
  const branches = ascii ? ASCII : UNICODE;
  const isLast = lastOnes(nodes);
  const lines: string[] = [];
  const margins: string[] = [];
  nodes.forEach((node, i) => {
    const depth = depthOf(node);
    const margin = margins.slice(1, depth).join("");
    const branch = depth === 0 ? "" : isLast[i] ? branches.last : branches.child;
    margins[depth] = depth === 0 ? "" : isLast[i] ? branches.below : branches.beside;
    lines.push(`${margin}${branch}${printable(nameOf(node, name))}  ${nodeText(node, i === 0)}`);
    const isParent = depthOf(nodes[i + 1] ?? node) > depth;
    const below = `${margins.slice(1, depth + 1).join("")}${isParent ? branches.beside : branches.below}`;
    lines.push(...findingsOf(node).map((message) => `${below}! ${printable(message)}`));
  });
  return `${lines.join("\n")}\n`;
}

/** True if the locale has another encoding than UTF-8. */
export function isAsciiLocale({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  return locale !== "" && !/utf-?8/i.test(locale);
}

/** For each node, true if no sibling follows. */
function lastOnes(nodes: readonly TreeNode[]): boolean[] {
  const follows: boolean[] = [];
  const isLast = nodes.map(() => false);
  for (let i = nodes.length - 1; i >= 0; i--) {
    const depth = depthOf(nodes[i]);
    isLast[i] = !follows[depth];
    follows.length = depth;
    follows[depth] = true;
  }
  return isLast;
}

function depthOf(node: TreeNode | undefined): number {
  return node === undefined || node.path === "" ? 0 : node.path.split("/").length;
}

function nameOf({ path }: TreeNode, name: string): string {
  return path === "" ? name : lastName(path);
}

function nodeText(node: TreeNode, isRoot: boolean): string {
  const zarrFormat = isRoot ? `, ${node.zarrFormat}` : "";
  if ("error" in node) return node.kind === "broken" ? "broken" : "not supported";
  if (node.kind === "group") return `group${node.implied ? ", implied" : ""}${zarrFormat}`;
  const { dataType, shape, chunkShape, innerChunkShape, dimensionNames } = node;
  const grid = innerChunkShape
    ? `${formatShape(innerChunkShape)} in shards of ${formatShape(chunkShape)}`
    : formatShape(chunkShape);
  const names = dimensionNames?.map((dimension) => dimension && printable(dimension));
  return `${dataType} ${formatShape(shape, names)} in chunks of ${grid}${zarrFormat}`;
}

/** The findings of a node, except that it is implied, which its line says already. */
function findingsOf(node: TreeNode): string[] {
  if ("error" in node) return [node.error.message];
  if (node.kind === "group" && node.implied) return [];
  return node.findings.map(({ message, pointer }) => (pointer ? `${pointer}: ${message}` : message));
}
