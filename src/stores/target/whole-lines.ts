/** A line that is longer is left out: nobody wrote it as a line. */
const MAX_LINE = 1024 * 1024;

/** The lines of a text of UTF-8 that comes in parts; without what follows the last end of a line, and without empty lines. */
export async function* wholeLines(
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun = "";
  let isTooLong = false;
  for await (const part of parts) {
    const lines = (begun + decoder.decode(part, { stream: true })).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "" && !isTooLong) yield line;
      isTooLong = false;
    }
    if (begun.length <= MAX_LINE) continue;
    begun = "";
    isTooLong = true;
  }
}
