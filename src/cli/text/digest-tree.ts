import { CellGrid } from "../../flows/digest/cell-grid.ts";
import type { ArrayTree, DigestTree } from "../../flows/digest/tree.ts";
import { counted } from "../../flows/text/numbers.ts";
import { printable } from "../../flows/text/printable.ts";

const UNKNOWN = "-".padEnd(64);

/** The lines of a tree: digest and name of each array, then of the whole. `name` stands for the node without a path. */
export function* treeDigestLines(
  { sha256, arrays }: DigestTree,
  { name, withCells }: { readonly name: string; readonly withCells: boolean | undefined },
): Generator<string> {
  for (const array of arrays) {
    const label = printable(array.path || name);
    yield `${array.sha256 ?? UNKNOWN}  ${label}${array.sha256 === undefined ? missing(array) : ""}\n`;
    if (withCells) yield* cellLines(array, label);
  }
  const isArray = arrays.length === 1 && arrays[0]?.path === "";
  if (!isArray) yield `${sha256 ?? UNKNOWN}  ${printable(name)}\n`;
}

function missing({ shape, cellShape, cells = [] }: ArrayTree): string {
  const known = cells.reduce((all, run) => all + run.sha256.length, 0);
  return `  (${known} of ${counted(new CellGrid(shape, cellShape).count, "cell")})`;
}

/** The lines of an array's cells, with ranges as `--slice` takes them. */
function* cellLines({ shape, cellShape, cells = [] }: ArrayTree, label: string): Generator<string> {
  const grid = new CellGrid(shape, cellShape);
  for (const { first, sha256 } of cells) {
    for (const [i, hash] of sha256.entries()) {
      const { start, shape: extent } = grid.regionOf(first + i);
      const ranges = start.map((at, d) => `${at}:${at + (extent[d] ?? 0)}`);
      yield `${hash}  ${label}[${ranges.join()}]\n`;
    }
  }
}
