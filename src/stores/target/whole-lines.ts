import { crc32 } from "../../util/crc32.ts";

/** A line that is longer is left out: nobody wrote it as a line. */
const MAX_LINE = 1024 * 1024;
/** Characters of what follows the text of a line: a space, and its CRC-32. */
const CHECKSUM = 9;

const encoder = new TextEncoder();

/** A line of a journal with its end, and the checksum by which `wholeLines` knows it. */
export function checkedLine(text: string): string {
  return `${text} ${checksumOf(text)}\n`;
}

/**
 * The lines of a text of UTF-8 that comes in parts, as they were given to `checkedLine`; without what follows the last
 * end of a line, and without lines that are not as they were written.
 */
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
      const text = isTooLong ? undefined : checkedText(line);
      if (text !== undefined) yield text;
      isTooLong = false;
    }
    if (begun.length <= MAX_LINE) continue;
    begun = "";
    isTooLong = true;
  }
}

function checkedText(line: string): string | undefined {
  const text = line.slice(0, -CHECKSUM);
  return line.slice(-CHECKSUM) === ` ${checksumOf(text)}` ? text : undefined;
}

function checksumOf(text: string): string {
  return crc32(encoder.encode(text)).toString(16).padStart(8, "0");
}
