import type { RangeReader } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { ZipEntry } from "./zip-index.ts";

const HEADER_BYTES = 30;
const HEADER_SIGNATURE = 0x04034b50;
/** Up to so many bytes, one read of header and data beats two, even of a local file. */
const FEW_BYTES = 32 * 1024;
const MOST_REMEMBERED = 10_000;

/**
 * Reads the bytes of entries as they lie in the archive. Where they begin is told by the local header alone: it is
 * read with the data where that saves a read, and remembered.
 */
export class EntryReader {
  readonly #reader: RangeReader;
  readonly #dataStarts = new Map<number, number>();
  /** Bytes of the extra field in the local header read last; mostly the next one's too. */
  #extraBytes = 0;

  constructor(reader: RangeReader) {
    this.#reader = reader;
  }

  /**
   * Fills `into` from `offset` of the packed bytes of `entry`, which must be checked.
   *
   * @throws `corrupt-store` when there is no local header, or it moves the entry outside the archive.
   */
  async read(
    entry: ZipEntry,
    offset: number,
    into: Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let start = this.#dataStarts.get(entry.offset);
    if (start === undefined) {
      const near = this.#reader.remote ? offset <= FEW_BYTES : offset + into.length <= FEW_BYTES;
      const dataBytes = near ? this.#extraBytes + offset + into.length : 0;
      const head = await this.#readHead(entry, dataBytes, signal);
      start = this.#dataStart(entry, head);
      const begin = start + offset - entry.offset;
      if (begin + into.length <= head.length) {
        into.set(head.subarray(begin, begin + into.length));
        return;
      }
    }
    const bytes = await this.#reader.read(start + offset, into.length, { signal, into });
    if (bytes !== into) into.set(bytes);
  }

  /**
   * Refuses an entry that cannot lie in the archive, before memory is taken for it.
   *
   * @throws `corrupt-store`
   */
  check(entry: ZipEntry): void {
    this.#checkEnd(entry.offset + HEADER_BYTES + entry.nameLength + entry.packedSize);
  }

  /** The local header with `more` bytes after its name. */
  #readHead(entry: ZipEntry, more: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const length = Math.min(HEADER_BYTES + entry.nameLength + more, this.#reader.size - entry.offset);
    return this.#reader.read(entry.offset, length, { signal });
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
