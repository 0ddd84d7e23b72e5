import { plainBuffers } from "../../util/buffers.ts";
import { type RangeReader, resolveRange } from "../../util/byte-range.ts";
import { crc32 } from "../../util/crc32.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { ReadableStream } from "../../util/web-streams.ts";
import { inStore } from "../in-store.ts";
import { checkKey } from "../key.ts";
import { listKeys, listLevel } from "../sorted-keys.ts";
import type { GetOptions, ListableStore, Listed, ListedEntry, StoreFinding, StoreOptions } from "../store.ts";
import { EntryReader } from "./entry-reader.ts";
import { checkInflatedSize, inflate } from "./inflate.ts";
import { readDirectory, type ZipDirectory } from "./read-directory.ts";
import type { ZipEntry } from "./zip-index.ts";

export interface ZipStoreOptions extends StoreOptions {
  /**
   * A folder inside the archive whose entries alone are the store's, for an archive of a folder with its own name.
   *
   * @default ""
   */
  readonly root?: string;
}

const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = -1;

/**
 * A zip archive read by ranges, from a file or from anywhere else. Its directory is read once, on opening. Entries
 * may be stored or deflated; the CRC is checked whenever a value is read whole.
 *
 * @see V2-82
 */
export class ZipStore implements ListableStore {
  readonly description: string;
  /** Entries left out, and names that occur twice. */
  readonly findings: readonly StoreFinding[];
  readonly #reader: RangeReader;
  readonly #directory: ZipDirectory;
  readonly #entries: EntryReader;
  /** Of stored entries, where the archive is a file. */
  readonly getSync?: (key: string, into: Uint8Array) => number | undefined;

  private constructor(reader: RangeReader, description: string, directory: ZipDirectory) {
    this.description = description;
    this.findings = directory.findings;
    this.#reader = reader;
    this.#directory = directory;
    this.#entries = new EntryReader(reader);
    if (reader.readSync) this.getSync = (key, into) => this.#readAtOnce(key, into);
  }

  /**
   * Reads the directory of the archive. The store takes `reader` and closes it, also when this fails.
   *
   * @param description the archive in words, such as `zip era5.zarr.zip`.
   * @throws `corrupt-store` when no directory is at the end, or it is broken; `path-not-allowed` when a name leaves the
   *   archive; `unsupported-operation` for archives in several files.
   */
  static async open(
    reader: RangeReader,
    description: string,
    { root = "", signal }: ZipStoreOptions = {},
  ): Promise<ZipStore> {
    if (root !== "") checkKey(root);
    try {
      const directory = await readDirectory(reader, root === "" ? "" : `${root}/`, signal);
      return new ZipStore(reader, description, directory);
    } catch (error) {
      await reader.close?.();
      throw inStore(error, description);
    }
  }

  /**
   * @throws `corrupt-store` when the entry is broken, or its CRC differs; `unsupported-operation` when it is encrypted or
   *   compressed in another way.
   */
  async get(
    key: string,
    { range, allocate = plainBuffers.take, signal }: GetOptions = {},
  ): Promise<Uint8Array | undefined> {
    signal?.throwIfAborted();
    checkKey(key);
    const entry = this.#directory.index.get(key);
    if (entry === undefined) return undefined;
    try {
      checkReadable(entry);
      this.#entries.check(entry);
      const { offset, length } = resolveRange(range, entry.size);
      const bytes = allocate(length);
      if (length === 0 && entry.size > 0) return bytes;
      if (entry.method === STORED) await this.#entries.read(entry, offset, bytes, signal);
      else {
        const packed = new Uint8Array(entry.packedSize);
        await this.#entries.read(entry, 0, packed, signal);
        await inflate(packed, entry.size, offset, bytes);
      }
      signal?.throwIfAborted();
      if (length === entry.size) checkCrc(bytes, entry);
      return bytes;
    } catch (error) {
      throw inStore(error, this.description, key);
    }
  }

  async size(key: string, { signal }: StoreOptions = {}): Promise<number | undefined> {
    signal?.throwIfAborted();
    checkKey(key);
    return this.#directory.index.sizeOf(key);
  }

  list(prefix: string, { signal }: StoreOptions = {}): ReadableStream<Listed> {
    return listKeys(this.#directory.index, prefix, signal);
  }

  listDirectory(prefix: string, { signal }: StoreOptions = {}): ReadableStream<ListedEntry> {
    return listLevel(this.#directory.index, prefix, signal);
  }

  #readAtOnce(key: string, into: Uint8Array): number | undefined {
    checkKey(key);
    const entry = this.#directory.index.get(key);
    const isStored = entry?.method === STORED && entry.packedSize === entry.size;
    if (!entry || !isStored || entry.size > into.length) return undefined;
    const bytes = into.subarray(0, entry.size);
    return this.#entries.readSync(entry, bytes) && crc32(bytes) === entry.crc32 ? entry.size : undefined;
  }

  async close(): Promise<void> {
    await this.#reader.close?.();
  }
}

function checkReadable({ method, packedSize, size }: ZipEntry): void {
  if (method === ENCRYPTED) throw new ZarrflowError("unsupported-operation", "the zip entry is encrypted");
  if (method === DEFLATED) checkInflatedSize(packedSize, size);
  else if (method !== STORED) {
    throw new ZarrflowError(
      "unsupported-operation",
      "the zip entry is compressed in a way that is not known",
      {
        value: `method ${method}`,
        hint: "Stored and deflated entries can be read.",
      },
    );
  } else if (packedSize !== size) {
    throw new ZarrflowError("corrupt-store", "the zip entry is stored, but its two sizes differ", {
      expected: size,
      found: packedSize,
    });
  }
}

function checkCrc(bytes: Uint8Array, entry: ZipEntry): void {
  const found = crc32(bytes);
  if (found === entry.crc32) return;
  throw new ZarrflowError("corrupt-store", "the CRC-32 of the zip entry differs", {
    expected: hex(entry.crc32),
    found: hex(found),
  });
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, "0");
}
