import type { RangeReader } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { type EntryReadOptions, NearReads } from "./coalescing-reader.ts";
import type { PlacedEntry, ZipEntry } from "./zip-index.ts";

const HEADER_BYTES = 30;
const HEADER_SIGNATURE = 0x04034b50;
/**
 * Up to this many bytes, of a local file and of other archives, one read of header and data is faster than two,
 * although it copies the data.
 */
const SMALL_BYTES = 32 * 1024;
const SMALL_REMOTE_BYTES = 256 * 1024;
const MAX_REMEMBERED = 10_000;
/** Maximum gap after an entry that is read with it, because its local extra field has an unknown length. */
const MAX_EXTRA_BYTES = 256;

export interface EntryAccess {
  /** True if the caller checks the CRC: only then may the start of the data be guessed from the next entry. */
  readonly isChecked: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * Reads the bytes of entries, mostly with one read each. Few bytes are read together with the local header, which
 * alone states for certain where the data start. More bytes are read directly into the caller's buffer, from the
 * start that the place of the next entry suggests. If no CRC would reveal a wrong guess, the local header is read
 * at the same time. Data starts from local headers are remembered.
 */
export class EntryReader {
  readonly #reader: RangeReader;
  /** Present if the archive is remote. */
  readonly near: NearReads | undefined;
  readonly #dataStarts = new Map<number, number>();
  /** Bytes of the extra field in the last local header. The next one mostly has the same length. */
  #extraBytes = 0;

  constructor(reader: RangeReader) {
    this.near = reader.remote ? new NearReads(reader) : undefined;
    this.#reader = this.near ?? reader;
  }

  /**
   * Fills `into` from `offset` of the packed bytes of `entry`. Call `check` with the entry before.
   *
   * @returns true if the start was guessed, so that a wrong CRC does not prove that the entry is broken
   * @throws `corrupt-store` if there is no local header, or it moves the entry outside the archive.
   */
  async read(entry: PlacedEntry, offset: number, into: Uint8Array, access: EntryAccess): Promise<boolean> {
    if (into.length === 0) return false;
    const { isChecked, signal } = access;
    const isWhole = into.length === entry.packedSize;
    const placed = this.#startByPlace(entry, isChecked);
    const end = offset + into.length;
    const isNear =
      end <= SMALL_BYTES || (placed === undefined && this.#reader.remote && end <= SMALL_REMOTE_BYTES);
    const how = { signal, into, isEntry: isWhole };
    const fill = async (start: number) => {
      const bytes = await this.#reader.read(start + offset, into.length, how);
      if (bytes !== into) into.set(bytes);
    };
    const known = this.#dataStarts.get(entry.offset);
    if (known === undefined && isNear) {
      const extraBytes = placed === undefined ? this.#extraBytes : placed - nameEnd(entry);
      const head = await this.#readHead(entry, extraBytes + end, { isEntry: isWhole, signal });
      const start = this.#dataStart(entry, head);
      const begin = start + offset - entry.offset;
      if (begin + into.length > head.length) await fill(start);
      else into.set(head.subarray(begin, begin + into.length));
      return false;
    }
    const isGuess = known === undefined && placed !== undefined && isChecked;
    if (known !== undefined || isGuess) {
      await fill(known ?? placed ?? 0);
      return isGuess;
    }
    await this.#readWithHead(entry, placed, fill, signal);
    return false;
  }

  /**
   * Reads the local header and, at the same time, the data at their likely start. If the header states another
   * start, the data are read again.
   */
  async #readWithHead(
    entry: PlacedEntry,
    likely: number | undefined,
    fill: (start: number) => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    // Both are awaited in any case, so that nothing is written into the caller's buffer later.
    const [head, data] = await Promise.allSettled([
      this.#readHead(entry, 0, { signal }),
      likely === undefined ? undefined : fill(likely),
    ]);
    if (head.status === "rejected") throw head.reason;
    const start = this.#dataStart(entry, head.value);
    if (start !== likely) await fill(start);
    else if (data.status === "rejected") throw data.reason;
  }

  /** Like `read`, but finished when it returns. Returns false if that is not possible. */
  readSync(entry: PlacedEntry, offset: number, into: Uint8Array, isChecked: boolean): boolean {
    const start = this.#dataStarts.get(entry.offset) ?? this.#startByPlace(entry, isChecked);
    return start !== undefined && this.#reader.readSync?.(start + offset, into) === true;
  }

  /**
   * Rejects an entry that reaches beyond the archive, before memory is allocated for it.
   *
   * @throws `corrupt-store`
   */
  check(entry: ZipEntry): void {
    this.#checkEnd(nameEnd(entry) + entry.packedSize);
  }

  /** True if an entry can be inside the archive. */
  isInside(entry: ZipEntry): boolean {
    return nameEnd(entry) + entry.packedSize <= this.#reader.size;
  }

  /** Returns the place of an entry with its local header, as known before the header is read. */
  placeOf(entry: PlacedEntry): { readonly offset: number; readonly length: number } {
    const { offset, next } = entry;
    const least = nameEnd(entry) + entry.packedSize;
    const isClose = next !== undefined && next >= least && next - least <= MAX_EXTRA_BYTES;
    const end = isClose ? next : least + this.#extraBytes;
    return { offset, length: Math.min(end, this.#reader.size) - offset };
  }

  /**
   * Guesses the start of the data from the place of the next entry. This works if no bytes are left between, or if
   * there are as many as in the last extra field and the CRC will reveal a wrong guess.
   */
  #startByPlace(entry: PlacedEntry, isChecked: boolean): number | undefined {
    if (entry.next === undefined) return undefined;
    const start = entry.next - entry.packedSize;
    const between = start - nameEnd(entry);
    return between === 0 || (between === this.#extraBytes && isChecked) ? start : undefined;
  }

  /** Reads the local header with `more` bytes after its name. */
  #readHead(entry: ZipEntry, more: number, options: EntryReadOptions): Promise<Uint8Array> {
    const length = Math.min(HEADER_BYTES + entry.nameLength + more, this.#reader.size - entry.offset);
    return this.#reader.read(entry.offset, length, options);
  }

  #dataStart(entry: ZipEntry, head: Uint8Array): number {
    const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
    if (view.getUint32(0, true) !== HEADER_SIGNATURE) {
      throw new ZarrflowError("corrupt-store", "there is no local header at the offset in the zip directory");
    }
    this.#extraBytes = view.getUint16(28, true);
    const start = entry.offset + HEADER_BYTES + view.getUint16(26, true) + this.#extraBytes;
    this.#checkEnd(start + entry.packedSize);
    if (this.#dataStarts.size >= MAX_REMEMBERED) this.#dataStarts.clear();
    this.#dataStarts.set(entry.offset, start);
    return start;
  }

  #checkEnd(end: number): void {
    if (end <= this.#reader.size) return;
    throw new ZarrflowError("corrupt-store", "the zip entry extends beyond the archive", {
      expected: end,
      found: this.#reader.size,
    });
  }
}

/** Returns the end of an entry's name in its local header. */
function nameEnd({ offset, nameLength }: ZipEntry): number {
  return offset + HEADER_BYTES + nameLength;
}
