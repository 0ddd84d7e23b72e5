import type { RangeReader } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { type EntryReadOptions, NearReads } from "./coalescing-reader.ts";
import type { PlacedEntry, ZipEntry } from "./zip-index.ts";

const HEADER_BYTES = 30;
const HEADER_SIGNATURE = 0x04034b50;
/** Up to so many bytes, one read of header and data, which are copied, beats two: of a local file, and of others. */
const SMALL_BYTES = 32 * 1024;
const SMALL_REMOTE_BYTES = 256 * 1024;
const MAX_REMEMBERED = 10_000;
/** More is not read behind an entry for a local header whose extra field is not known yet. */
const MAX_EXTRA_BYTES = 256;

/** How an entry is read. */
export interface EntryAccess {
  /** Whether the caller checks the bytes by their CRC: only then may the place of the next entry tell where they are. */
  readonly isChecked: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * Reads the bytes of entries as they lie in the archive, mostly in one read. Few bytes are read with the local header,
 * which alone says for certain where the data start. More are read straight into the caller's buffer from where the
 * place of the next entry puts them; where no CRC can tell a false guess, the local header is read beside them. What
 * local headers say is remembered.
 */
export class EntryReader {
  readonly #reader: RangeReader;
  /** Present where the archive is far away. */
  readonly near: NearReads | undefined;
  readonly #dataStarts = new Map<number, number>();
  /** Bytes of the extra field in the local header read last; mostly the next one's too. */
  #extraBytes = 0;

  constructor(reader: RangeReader) {
    this.near = reader.remote ? new NearReads(reader) : undefined;
    this.#reader = this.near ?? reader;
  }

  /**
   * Fills `into` from `offset` of the packed bytes of `entry`, which must be checked.
   *
   * @returns whether the place was guessed: a CRC that differs then says nothing of the entry
   * @throws `corrupt-store` when there is no local header, or it moves the entry outside the archive.
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

  /** Reads the local header, and the data where it says; at the same time where they are likely to be. */
  async #readWithHead(
    entry: PlacedEntry,
    likely: number | undefined,
    fill: (start: number) => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    // Both are awaited whatever happens: nothing is written into the caller's buffer later.
    const [head, data] = await Promise.allSettled([
      this.#readHead(entry, 0, { signal }),
      likely === undefined ? undefined : fill(likely),
    ]);
    if (head.status === "rejected") throw head.reason;
    const start = this.#dataStart(entry, head.value);
    if (start !== likely) await fill(start);
    else if (data.status === "rejected") throw data.reason;
  }

  /** As `read`, done before it returns; false where that cannot be done. */
  readSync(entry: PlacedEntry, offset: number, into: Uint8Array, isChecked: boolean): boolean {
    const start = this.#dataStarts.get(entry.offset) ?? this.#startByPlace(entry, isChecked);
    return start !== undefined && this.#reader.readSync?.(start + offset, into) === true;
  }

  /**
   * Refuses an entry that cannot lie in the archive, before memory is taken for it.
   *
   * @throws `corrupt-store`
   */
  check(entry: ZipEntry): void {
    this.#checkEnd(nameEnd(entry) + entry.packedSize);
  }

  /** Whether an entry can lie in the archive. */
  isInside(entry: ZipEntry): boolean {
    return nameEnd(entry) + entry.packedSize <= this.#reader.size;
  }

  /** Where an entry lies with its local header, as far as that is known before the header is read. */
  placeOf(entry: PlacedEntry): { readonly offset: number; readonly length: number } {
    const { offset, next } = entry;
    const least = nameEnd(entry) + entry.packedSize;
    const isClose = next !== undefined && next >= least && next - least <= MAX_EXTRA_BYTES;
    const end = isClose ? next : least + this.#extraBytes;
    return { offset, length: Math.min(end, this.#reader.size) - offset };
  }

  /**
   * Where the data are likely to start, by the place of the next entry: no byte is left between, or as many as the last
   * header that was read has in its extra field, and the CRC will tell a false guess.
   */
  #startByPlace(entry: PlacedEntry, isChecked: boolean): number | undefined {
    if (entry.next === undefined) return undefined;
    const start = entry.next - entry.packedSize;
    const between = start - nameEnd(entry);
    return between === 0 || (between === this.#extraBytes && isChecked) ? start : undefined;
  }

  /** The local header with `more` bytes after its name. */
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

/** Where the name of an entry ends in its local header. */
function nameEnd({ offset, nameLength }: ZipEntry): number {
  return offset + HEADER_BYTES + nameLength;
}
