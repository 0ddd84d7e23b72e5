import { printableJson } from "../../flows/text/printable.ts";
import { fromPlain } from "../../util/json-plain.ts";
import { writeJson } from "../../util/json-write.ts";

/**
 * A value as strict JSON that loses no digit of a bigint; numbers that are not finite become null. What would do something to
 * a terminal is escaped.
 */
export function toJson(value: unknown, indent = 0): string {
  return printableJson(writeJson(fromPlain(value), { indent, nonFinite: "null" }));
}

/**
 * Writes values to standard output as one JSON list, each on a line of its own as soon as it is known. Where they fail,
 * the list ends with what was known.
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
