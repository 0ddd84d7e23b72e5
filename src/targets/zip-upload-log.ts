import { isKey } from "../stores/key.ts";
import type { BegunUpload, Journal, UploadedPart, WritableStore } from "../stores/store.ts";
import { entryEnd, type StoredEntry } from "../stores/zip/zip-records.ts";
import { isCount } from "../util/numbers.ts";
import { type Fields, isObject } from "../util/options.ts";
import type { ValueJournal } from "./value-journal.ts";

/**
 * The progress of a zip that is uploaded in parts, as lines of its run's journal. Other readers of the journal
 * ignore these lines, and the reader of these ignores all others.
 */
export type ZipUploadLine =
  | { readonly upload: string }
  | { readonly part: number; readonly size: number; readonly tag: string }
  | {
      readonly entry: string;
      readonly offset: number;
      readonly size: number;
      readonly crc32: number;
      readonly follow: boolean;
    }
  /** The run continues after this part: earlier records of later bytes are void. */
  | { readonly goesOnAfter: number };

/** The work on a zip that an unfinished run has left. */
export interface LeftZip {
  /** Absent if no upload was started. */
  readonly upload?: BegunUpload | undefined;
  /** Entries in order. The last ones may be in parts that were not uploaded. */
  readonly entries: readonly StoredEntry[];
}

export function zipUploadLine(line: ZipUploadLine): string {
  return JSON.stringify({ zip: line });
}

/** Returns the line that records an entry of a zip. */
export function entryLine({ name, offset, size, crc32, sizesFollow }: StoredEntry): string {
  const entry = new TextDecoder().decode(name);
  return zipUploadLine({ entry, offset, size, crc32, follow: sizesFollow });
}

/** Reads from a journal which parts and entries of a zip were uploaded. */
export async function leftZip(journal: Pick<Journal, "lines">): Promise<LeftZip> {
  const encoder = new TextEncoder();
  const parts = new Map<number, UploadedPart>();
  let entries: StoredEntry[] = [];
  let id: string | undefined;
  let end = 0;
  for await (const text of journal.lines()) {
    const line = parseZipUploadLine(text);
    if (line === undefined) continue;
    if ("upload" in line) id = line.upload;
    else if ("part" in line) parts.set(line.part, { number: line.part, size: line.size, tag: line.tag });
    else if ("goesOnAfter" in line) {
      for (const number of parts.keys()) if (number > line.goesOnAfter) parts.delete(number);
      end = bytesOf(firstOf(parts));
      entries = wholeEntries(entries, end);
    } else if (line.offset === end) {
      const { entry, offset, size, crc32, follow } = line;
      entries.push({ name: encoder.encode(entry), offset, size, crc32, sizesFollow: follow });
      end = entryEnd(entries.at(-1) as StoredEntry);
    }
  }
  return { upload: id === undefined ? undefined : { id, parts: partsOf(entries, firstOf(parts)) }, entries };
}

/** Returns the entries that are complete within the first `bytes`. */
export function wholeEntries(entries: readonly StoredEntry[], bytes: number): StoredEntry[] {
  return entries.filter((entry) => entryEnd(entry) <= bytes);
}

export function bytesOf(parts: readonly UploadedPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}

/** Returns the parts from number 1 up to the first gap. */
function firstOf(parts: ReadonlyMap<number, UploadedPart>): UploadedPart[] {
  const found: UploadedPart[] = [];
  for (let part = parts.get(1); part; part = parts.get(part.number + 1)) found.push(part);
  return found;
}

/** Returns the parts that contain complete entries. */
function partsOf(entries: readonly StoredEntry[], parts: readonly UploadedPart[]): UploadedPart[] {
  const last = wholeEntries(entries, bytesOf(parts)).at(-1);
  const end = last === undefined ? 0 : entryEnd(last);
  const needed: UploadedPart[] = [];
  let bytes = 0;
  for (const part of parts) {
    if (bytes >= end) break;
    needed.push(part);
    bytes += part.size;
  }
  return needed;
}

function parseZipUploadLine(text: string): ZipUploadLine | undefined {
  if (!text.startsWith('{"zip":')) return undefined;
  let line: unknown;
  try {
    line = (JSON.parse(text) as { readonly zip?: unknown }).zip;
  } catch {
    return undefined;
  }
  return isObject(line) && isZipUploadLine(line) ? (line as unknown as ZipUploadLine) : undefined;
}

function isZipUploadLine({ upload, part, tag, entry, goesOnAfter, ...numbers }: Fields): boolean {
  if (upload !== undefined) return typeof upload === "string";
  if (goesOnAfter !== undefined) return isCount(goesOnAfter);
  if (part !== undefined) return isCount(part) && isCount(numbers.size) && typeof tag === "string";
  const { offset, size, crc32, follow } = numbers;
  const isPlaced = isCount(offset) && isCount(size) && isCount(crc32);
  return typeof entry === "string" && isKey(entry) && isPlaced && typeof follow === "boolean";
}

/** Removes the parts that a run has left, and its journal. */
export async function removeLeftZip(store: WritableStore, key: string, journal: ValueJournal): Promise<void> {
  const { upload } = await leftZip(journal);
  if (upload) await (await store.openUpload?.(key, { begun: upload }))?.abort();
  await journal.remove();
}
