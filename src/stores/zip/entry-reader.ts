import type { RangeReader } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { type EntryReadOptions, NearReads } from "./near-reads.ts";
import type { PlacedEntry, ZipEntry } from "./zip-index.ts";

const HEADER_BYTES = 30;
const HEADER_SIGNATURE = 0x04034b50;
/** Up to so many bytes, one read of header and data, which are copied, beats two: of a local file, and of others. */
const FEW_BYTES = 32 * 1024;
const FEW_REMOTE_BYTES = 256 * 1024;
const MOST_REMEMBERED = 10_000;

/**
 * Reads the bytes of entries as they lie in the archive, mostly in one read. Few bytes are read with the local header,
 * which is checked. More are read straight into the caller's buffer, where an entry fills the place up to the next one
 * with header, name and data: these begin where they must. Elsewhere the local header is read first, and what it tells
 * is remembered.
 */
export class EntryReader {
  readonly #reader: RangeReader;
  readonly #dataStarts = new Map<number, number>();
  /** Bytes of the extra field in the local header read last; mostly the next one's too. */
  #extraBytes = 0;

  constructor(reader: RangeReader) {
    this.#reader = reader.remote ? new NearReads(reader) : reader;
  }

  /**
   * Fills `into` from `offset` of the packed bytes of `entry`, which must be checked.
   *
   * @throws `corrupt-store` when there is no local header, or it moves the entry outside the archive.
   */
  async read(
    entry: PlacedEntry,
    offset: number,
    into: Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (into.length === 0) return;
    const isWhole = into.length === entry.packedSize;
    const placed = this.#startByPlace(entry, isWhole);
    const end = offset + into.length;
    const isNear =
      end <= FEW_BYTES || (placed === undefined && this.#reader.remote && end <= FEW_REMOTE_BYTES);
    let start = this.#dataStarts.get(entry.offset) ?? (isNear ? undefined : placed);
    if (start === undefined) {
      const extraBytes = placed === undefined ? this.#extraBytes : placed - nameEnd(entry);
      const options = { isEntry: isNear && isWhole, signal };
      const head = await this.#readHead(entry, isNear ? extraBytes + end : 0, options);
      start = this.#dataStart(entry, head);
      const begin = start + offset - entry.offset;
      if (begin + into.length <= head.length) {
        into.set(head.subarray(begin, begin + into.length));
        return;
      }
    }
    const how = { signal, into, isEntry: isWhole };
    const bytes = await this.#reader.read(start + offset, into.length, how);
    if (bytes !== into) into.set(bytes);
  }

  /** As `read` of all packed bytes, done before it returns; false where that cannot be done. */
  readSync(entry: PlacedEntry, into: Uint8Array): boolean {
    const start = this.#dataStarts.get(entry.offset) ?? this.#startByPlace(entry, true);
    return start !== undefined && this.#reader.readSync?.(start, into) === true;
  }

  /**
   * Refuses an entry that cannot lie in the archive, before memory is taken for it.
   *
   * @throws `corrupt-store`
   */
  check(entry: ZipEntry): void {
    this.#checkEnd(nameEnd(entry) + entry.packedSize);
  }

  /**
   * Where the data begin, if the place of the next entry tells: no byte is left between, or as many as the last header
   * that was read has in its extra field, and all is read, so that the CRC will tell a false guess.
   */
  #startByPlace(entry: PlacedEntry, isWhole: boolean): number | undefined {
    if (entry.next === undefined) return undefined;
    const start = entry.next - entry.packedSize;
    const between = start - nameEnd(entry);
    return between === 0 || (between === this.#extraBytes && isWhole) ? start : undefined;
  }

  /** The local header with `more` bytes after its name. */
  #readHead(entry: ZipEntry, more: number, options: EntryReadOptions): Promise<Uint8Array> {
    const length = Math.min(HEADER_BYTES + entry.nameLength + more, this.#reader.size - entry.offset);
    return this.#reader.read(entry.offset, length, options);
  }

  #dataStart(entry: ZipEntry, head: Uint8Array): number {
    const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
    if (view.getUint32(0, true) !== HEADER_SIGNATURE) {
      throw new ZarrflowError("corrupt-store", "no local header is where the zip directory says");
    }
    this.#extraBytes = view.getUint16(28, true);
    const start = entry.offset + HEADER_BYTES + view.getUint16(26, true) + this.#extraBytes;
    this.#checkEnd(start + entry.packedSize);
    if (this.#dataStarts.size >= MOST_REMEMBERED) this.#dataStarts.clear();
    this.#dataStarts.set(entry.offset, start);
    return start;
  }

  #checkEnd(end: number): void {
    if (end <= this.#reader.size) return;
    throw new ZarrflowError("corrupt-store", "the zip entry reaches outside the archive", {
      expected: end,
      found: this.#reader.size,
    });
  }
}

/** Where the name of an entry ends in its local header. */
function nameEnd({ offset, nameLength }: ZipEntry): number {
  return offset + HEADER_BYTES + nameLength;
}
