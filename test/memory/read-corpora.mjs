// Reads what a file lists: {"url", "selection"?, "seconds"} a line. Refusals are fine; crashes and cases that take too long
// end the process with 1: node read-corpora.mjs LIST
import { readFileSync } from "node:fs";
import { digest, isZarrflowError, open, slice, walk } from "../../dist/index.js";

/** Of arrays with more items than this the first is read: hardly any of their chunks are stored. */
const MAX_ITEMS = 2 ** 28;

const [list = ""] = process.argv.slice(2);
for (const line of readFileSync(list, "utf8").trim().split("\n")) {
  const { url, selection, seconds } = JSON.parse(line);
  const watch = setTimeout(() => {
    console.error(`${url} took more than ${seconds} s`);
    process.exit(1);
  }, seconds * 1000);
  try {
    await read(url, selection);
  } catch (error) {
    if (!isZarrflowError(error)) {
      console.error(url, error);
      process.exit(1);
    }
  } finally {
    clearTimeout(watch);
  }
}

async function read(url, selection) {
  const node = await open(url);
  try {
    if (node.kind === "group") for await (const _ of walk(node));
    else if (selection) for await (const _ of slice(node, selection).bytes());
    else if (node.shape.reduce((n, size) => n * size, 1) > MAX_ITEMS)
      await slice(node, firstItem(node)).read();
    else for await (const _ of digest(node));
  } finally {
    await node.store.close?.();
  }
}

function firstItem({ shape }) {
  return shape.map((size) => [0, Math.min(size, 1)]);
}
