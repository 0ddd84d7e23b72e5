import { printableJson } from "../../flows/text/format.ts";
import { fromPlain } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";

/**
 * A value as strict JSON. Bigints keep all digits, non-finite numbers become null, and control characters are escaped.
 */
export function toJson(value: unknown, indent = 0): string {
  return printableJson(writeJson(fromPlain(value), { indent, nonFinite: "null" }));
}

/**
 * Writes values to standard output as one JSON list, each on its own line as soon as it is known. If the values fail,
 * the list ends after those that are known.
 */
export async function writeJsonList(
  values: AsyncIterable<unknown>,
  { write }: { readonly write: (text: string) => Promise<void> },
): Promise<void> {
  let separator = "[\n";
  let isWriting = false;
  try {
    for await (const value of values) {
      isWriting = true;
      await write(separator + toJson(value));
      isWriting = false;
      separator = ",\n";
    }
  } catch (error) {
    if (!isWriting && separator !== "[\n") await write("\n]\n");
    throw error;
  }
  await write(separator === "[\n" ? "[]\n" : "\n]\n");
}
