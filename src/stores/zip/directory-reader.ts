import type { RangeReader } from "../../util/byte-range.ts";
import { joinBytes } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";

const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const ZIP64_LOCATOR_BYTES = 20;
const ZIP64_LOCATOR_SIGNATURE = 0x07064b50;
const ZIP64_END_BYTES = 56;
const ZIP64_END_SIGNATURE = 0x06064b50;
const ENTRY_SIGNATURE = 0x02014b50;
const MAX_COMMENT_BYTES = 0xffff;
/**
 * Bytes of the directory that are read at a time, of a local file and of other archives, where a request costs
 * more.
 */
const BLOCK_BYTES = 1024 * 1024;
const REMOTE_BLOCK_BYTES = 8 * BLOCK_BYTES;
/** Bytes at the end of a remote archive that are read first. They contain a directory of 3,000 entries. */
const REMOTE_TAIL_BYTES = 256 * 1024;
/** Bytes of the largest directory, with some 10 million entries, as a limit for servers that send without end. */
const MAX_DIRECTORY_BYTES = 2 ** 30;

/** Consecutive bytes of the archive. */
interface Block {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** End of the directory, and what the record there states; in bytes from the archive's own start. */
export interface DirectoryEnd {
  readonly at: number;
  /** Stated start of the directory. */
  readonly offset: number;
  /** Stated length of the directory in bytes. */
  readonly size: number;
  readonly entries: number;
  /** True if the number of entries has 64 bits. A 16-bit number may be stored modulo 65,536. */
  readonly isZip64: boolean;
}

/**
 * The directory of an archive, which may have other bytes in front. Reads the end of the archive once and the rest
 * of its directory in large blocks, so that few reads are needed: two for a remote archive of 100,000 entries.
 */
export class DirectoryReader {
  /** Bytes in front of the archive, which its offsets do not count. */
  readonly start: number;
  readonly #reader: RangeReader;
  readonly #tail: Block;
  /** Offset of the end record in the tail. */
  readonly #endRecord: number;
  readonly #signal: AbortSignal | undefined;
  #block: Block | undefined;
  #loaded = 0;

  private constructor(
    reader: RangeReader,
    tail: Block,
    places: { readonly start: number; readonly endRecord: number },
    signal: AbortSignal | undefined,
  ) {
    this.start = places.start;
    this.#reader = reader;
    this.#tail = tail;
    this.#endRecord = places.endRecord;
    this.#signal = signal;
  }

  /** @throws `corrupt-store` if there is no directory at the end. */
  static async open(reader: RangeReader, signal?: AbortSignal): Promise<DirectoryReader> {
    const least = ZIP64_LOCATOR_BYTES + END_BYTES + MAX_COMMENT_BYTES;
    const length = Math.min(reader.size, reader.remote ? REMOTE_TAIL_BYTES : least);
    const tail = {
      at: reader.size - length,
      bytes: await reader.read(reader.size - length, length, { signal }),
    };
    const end = findEnd(tail.bytes);
    if (end === undefined) {
      throw new ZarrflowError(
        "corrupt-store",
        "no zip directory at the end: this is not a zip, or it is truncated",
      );
    }
    const start = await findStart(reader, tail, end, signal);
    return new DirectoryReader(reader, tail, { start, endRecord: end }, signal);
  }

  /**
   * @throws `corrupt-store` if the zip64 record is outside the file or invalid; `unsupported-operation` for
   *   archives in several files.
   */
  async end(): Promise<DirectoryEnd> {
    const view = viewOf(this.#tail.bytes);
    const end = this.#endRecord;
    const locator = end - ZIP64_LOCATOR_BYTES;
    if (locator >= 0 && view.getUint32(locator, true) === ZIP64_LOCATOR_SIGNATURE) {
      const at = Number(view.getBigUint64(locator + 8, true));
      const record = viewOf(await this.bytesAt(at, ZIP64_END_BYTES));
      if (record.getUint32(0, true) !== ZIP64_END_SIGNATURE) {
        throw new ZarrflowError(
          "corrupt-store",
          "the zip directory cannot be read: it has no valid zip64 record",
        );
      }
      assertOneFile(record.getUint32(16, true));
      const [entries = 0, size = 0, offset = 0] = [32, 40, 48].map((i) =>
        Number(record.getBigUint64(i, true)),
      );
      return { at, offset, size, entries, isZip64: true };
    }
    assertOneFile(view.getUint16(end + 4, true));
    const at = this.#tail.at + end - this.start;
    const [size, offset] = [view.getUint32(end + 12, true), view.getUint32(end + 16, true)];
    return { at, offset, size, entries: view.getUint16(end + 10, true), isZip64: false };
  }

  get comment(): Uint8Array {
    return this.#tail.bytes.slice(this.#endRecord + END_BYTES);
  }

  /** True if an entry of the directory starts at `position`. */
  async isEntryAt(position: number): Promise<boolean> {
    return viewOf(await this.bytesAt(position, 4)).getUint32(0, true) === ENTRY_SIGNATURE;
  }

  /** Returns bytes of the archive, counted from `start`; without a promise if they were read before. */
  bytesAt(position: number, length: number): Uint8Array | Promise<Uint8Array> {
    const at = this.start + position;
    const partOf = ({ at: begin, bytes }: Block) => bytes.subarray(at - begin, at - begin + length);
    const known = [this.#block, this.#tail].find((block) => block !== undefined && holds(block, at, length));
    return known === undefined ? this.#load(at, length).then(partOf) : partOf(known);
  }

  async #load(at: number, length: number): Promise<Block> {
    const { size } = this.#reader;
    if (at + length > size) {
      throw new ZarrflowError("corrupt-store", "the zip directory extends beyond the file", {
        expected: at + length,
        found: size,
      });
    }
    if (this.#loaded > MAX_DIRECTORY_BYTES) {
      throw new ZarrflowError("resource-limit", "the zip directory is too large", {
        expected: `at most ${MAX_DIRECTORY_BYTES} bytes`,
      });
    }
    const most = Math.max(length, this.#reader.remote ? REMOTE_BLOCK_BYTES : BLOCK_BYTES);
    const bytes = await this.#reader.read(at, Math.min(most, this.#tail.at - at), { signal: this.#signal });
    this.#loaded += bytes.length;
    this.#block =
      at + most < this.#tail.at ? { at, bytes } : { at, bytes: joinBytes([bytes, this.#tail.bytes]) };
    return this.#block;
  }
}

function holds({ at, bytes }: Block, position: number, length: number): boolean {
  return position >= at && position + length <= at + bytes.length;
}

/** Finds the end record in `tail`: the last signature whose comment ends exactly at the end. */
function findEnd(tail: Uint8Array): number | undefined {
  const view = viewOf(tail);
  for (let i = tail.length - END_BYTES; i >= 0; i--) {
    if (view.getUint32(i, true) !== END_SIGNATURE) continue;
    if (i + END_BYTES + view.getUint16(i + 20, true) === tail.length) return i;
  }
  return undefined;
}

/**
 * Returns the number of bytes in front of an archive: the difference between the actual and the stated place of
 * the directory. It is 0 if there is a directory at the stated place.
 */
async function findStart(
  reader: RangeReader,
  tail: Block,
  end: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const view = viewOf(tail.bytes);
  const locator = end - ZIP64_LOCATOR_BYTES;
  if (locator >= 0 && view.getUint32(locator, true) === ZIP64_LOCATOR_SIGNATURE) return 0;
  const directoryBytes = view.getUint32(end + 12, true);
  const offset = view.getUint32(end + 16, true);
  const start = tail.at + end - directoryBytes - offset;
  if (start <= 0 || directoryBytes < 4) return 0;
  const signatureAt = async (at: number) => viewOf(await reader.read(at, 4, { signal })).getUint32(0, true);
  const isShifted =
    (await signatureAt(offset)) !== ENTRY_SIGNATURE &&
    (await signatureAt(start + offset)) === ENTRY_SIGNATURE;
  return isShifted ? start : 0;
}

function assertOneFile(number: number): void {
  if (number === 0) return;
  throw new ZarrflowError("unsupported-operation", "the zip is one part of a multi-part archive", {
    hint: "Join the parts first (`zip -s 0`).",
  });
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
