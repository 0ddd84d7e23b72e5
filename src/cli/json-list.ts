import type { Terminal } from "./terminal.ts";
import { toJson } from "./text/json.ts";

/** Writes values to standard output as one JSON list, each on a line of its own as soon as it is known. */
export async function writeJsonList(
  values: AsyncIterable<unknown>,
  { write }: Pick<Terminal, "write">,
): Promise<void> {
  let separator = "[\n";
  for await (const value of values) {
    await write(separator + toJson(value));
    separator = ",\n";
  }
  await write(separator === "[\n" ? "[]\n" : "\n]\n");
}
