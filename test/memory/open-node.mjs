// Opens what URLs name. A refusal is fine and printed; anything else ends the process with 1: node open-node.mjs URL...
import { isZarrflowError, open, walk } from "../../dist/index.js";

const PATIENCE = 60_000;

for (const url of process.argv.slice(2)) {
  const watch = setTimeout(() => process.exit(2), PATIENCE);
  try {
    const node = await open(url);
    if (node.kind === "group") for await (const _ of walk(node));
    await node.store.close?.();
    console.log("opened");
  } catch (error) {
    if (!isZarrflowError(error)) {
      console.error(url, error);
      process.exit(1);
    }
    console.log(`${error.code}: ${error.message}`);
  }
  clearTimeout(watch);
}
