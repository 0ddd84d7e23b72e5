import type { Journal } from "../stores/store.ts";
import { crc32 } from "../util/crc32.ts";

/** Characters of the longest line. Longer ones are skipped, because no journal wrote them. */
const MAX_LINE = 1024 * 1024;
/** Characters after the text of a line: a space and its CRC-32. */
const CHECKSUM = 9;

const encoder = new TextEncoder();

/** Returns a line of a journal with its checksum and line break, as `wholeLines` expects it. */
export function checkedLine(text: string): string {
  return `${text} ${checksumOf(text)}\n`;
}

/**
 * Splits UTF-8 text into lines and returns them as they were passed to `checkedLine`. Text after the last line
 * break is skipped, and so are altered lines.
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

/** Joins a process's own journal with those of others, which are read first. */
export function joinedJournal(others: Pick<Journal, "lines">, own: Journal): Journal {
  return {
    description: own.description,
    boot: own.boot,
    ...(own.isDurable !== undefined && { isDurable: own.isDurable }),
    async *lines() {
      yield* others.lines();
      yield* own.lines();
    },
    append: (line) => own.append(line),
    flush: () => own.flush(),
    close: () => own.close(),
  };
}
