import { RandomAccessReader } from "yauzl";
import { joinBytes } from "../../util/buffers.ts";
import type { RangeReader } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";

const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const ZIP64_LOCATOR_BYTES = 20;
const ZIP64_LOCATOR_SIGNATURE = 0x07064b50;
const ZIP64_END_BYTES = 56;
const ENTRY_SIGNATURE = 0x02014b50;
const MAX_COMMENT_BYTES = 0xffff;
/** Bytes of the directory that are read at one time, of a local file and of others, where a request costs more. */
const BLOCK_BYTES = 1024 * 1024;
const REMOTE_BLOCK_BYTES = 8 * BLOCK_BYTES;
/** Bytes at the end that are read first, of what is no local file: with them the directory of 3,000 entries. */
const REMOTE_TAIL_BYTES = 256 * 1024;
/** Bytes of the largest directory, of some 10 million entries: who sends more will never end. */
const MAX_DIRECTORY_BYTES = 2 ** 30;

/** A run of bytes of the archive. */
interface Block {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Where the directory ends, and what the record there says of it; in bytes from the archive's own begin. */
export interface DirectoryEnd {
  readonly at: number;
  /** Bytes that the directory is said to have. */
  readonly size: number;
  /** Whether the count of entries has 64 bits: one of 16 bits may be stored modulo 65,536. */
  readonly isZip64: boolean;
}

/**
 * An archive as yauzl is to see it: its comment blank, since yauzl would take a signature in there for the end
 * record, and without bytes glued before its begin. Reads the end of the archive once and the rest of its directory
 * in large blocks, so that few reads are made: two of an archive of 100,000 entries that is far away.
 */
export class DirectoryReader extends RandomAccessReader {
  /** Bytes before the archive's own begin; its offsets do not count them. */
  readonly start: number;
  readonly #reader: RangeReader;
  readonly #tail: Block;
  /** Where in the tail the end record begins. */
  readonly #endRecord: number;
  readonly #signal: AbortSignal | undefined;
  #block: Block | undefined;
  #loaded = 0;
  #failure: { readonly error: unknown } | undefined;

  private constructor(
    reader: RangeReader,
    tail: Block,
    places: { readonly start: number; readonly endRecord: number },
    signal: AbortSignal | undefined,
  ) {
    super();
    this.start = places.start;
    this.#reader = reader;
    this.#tail = tail;
    this.#endRecord = places.endRecord;
    this.#signal = signal;
  }

  /** @throws `corrupt-store` when no directory is at the end. */
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
    tail.bytes.fill(0, end + END_BYTES);
    const start = await findStart(reader, tail, end, signal);
    return new DirectoryReader(reader, tail, { start, endRecord: end }, signal);
  }

  /** Bytes of the archive from `start` on. */
  get size(): number {
    return this.#reader.size - this.start;
  }

  /** @throws `corrupt-store` when the zip64 record is not in the file. */
  async end(): Promise<DirectoryEnd> {
    const view = viewOf(this.#tail.bytes);
    const locator = this.#endRecord - ZIP64_LOCATOR_BYTES;
    if (locator >= 0 && view.getUint32(locator, true) === ZIP64_LOCATOR_SIGNATURE) {
      const at = Number(view.getBigUint64(locator + 8, true));
      const record = viewOf(await this.#bytesAt(at, ZIP64_END_BYTES));
      return { at, size: Number(record.getBigUint64(40, true)), isZip64: true };
    }
    const at = this.#tail.at + this.#endRecord - this.start;
    return { at, size: view.getUint32(this.#endRecord + 12, true), isZip64: false };
  }

  /** Whether an entry of a directory begins at `position`. */
  async isEntryAt(position: number): Promise<boolean> {
    return viewOf(await this.#bytesAt(position, 4)).getUint32(0, true) === ENTRY_SIGNATURE;
  }

  async #bytesAt(position: number, length: number): Promise<Uint8Array> {
    const at = this.start + position;
    const { at: begin, bytes } = this.#known(at, length) ?? (await this.#load(at, length));
    return bytes.subarray(at - begin, at - begin + length);
  }

  #known(at: number, length: number): Block | undefined {
    return [this.#tail, this.#block].find((block) => block !== undefined && holds(block, at, length));
  }

  /** Why a read failed, if one did: yauzl's errors are then only its echo. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  override read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
    done: (error: Error | null) => void,
  ): void {
    const at = this.start + position;
    const known = this.#known(at, length);
    const copy = ({ at: begin, bytes }: Block) => {
      target.set(bytes.subarray(at - begin, at - begin + length), offset);
      done(null);
    };
    if (known !== undefined) copy(known);
    else {
      this.#load(at, length).then(copy, (error) => {
        this.#failure = { error };
        done(new Error("a read failed"));
      });
    }
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

/** Where in `tail` the end record begins: the last signature whose comment reaches exactly to the end. */
function findEnd(tail: Uint8Array): number | undefined {
  const view = viewOf(tail);
  for (let i = tail.length - END_BYTES; i >= 0; i--) {
    if (view.getUint32(i, true) !== END_SIGNATURE) continue;
    if (i + END_BYTES + view.getUint16(i + 20, true) === tail.length) return i;
  }
  return undefined;
}

/**
 * How many bytes were glued before a finished archive: the directory ends where the end record begins, and the
 * difference to where the record says it does counts, but only if no directory is where the record says.
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

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
