import { throwIfAborted } from "../../util/abort.ts";
import { type RangeReader, resolveRange } from "../../util/byte-range.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { crc32 } from "../../util/crc32.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { assertKnown, type OptionNames } from "../../util/options.ts";
import type { ReadableStream } from "../../util/web-streams.ts";
import { withErrorContext } from "../error-context.ts";
import { assertKey } from "../key.ts";
import { type KeyIndex, listKeys, listLevel } from "../sorted-keys.ts";
import type {
  AdjacentReads,
  GetOptions,
  GetSyncOptions,
  KeyEntry,
  ListableStore,
  ListedEntry,
  ListOptions,
  ReadPart,
  StoreFinding,
  StoreOptions,
  SyncRead,
  ValueChecks,
  ValuePlace,
} from "../store.ts";
import { markNativeStore } from "../store-traits.ts";
import { folderInPlace, sourceChanged } from "../version.ts";
import type { NearReads } from "./coalescing-reader.ts";
import { type EntryAccess, EntryReader } from "./entry-reader.ts";
import { assertInflatedSize, Inflation, inflate, inflaterHere, OpenInflations } from "./inflate.ts";
import { PartChecks } from "./part-checks.ts";
import { linkError, readDirectory, type ZipDirectory } from "./read-directory.ts";
import { ENCRYPTED, type PlacedEntry, type ZipEntry } from "./zip-index.ts";

export interface ZipStoreOptions extends StoreOptions {
  /**
   * Folder inside the archive that is the root of the store, for archives that contain a folder with its name.
   *
   * @default ""
   */
  readonly root?: string | undefined;
}

const ZIP_OPTIONS: OptionNames<ZipStoreOptions> = {
  root: true,
  signal: true,
};

/** Bytes of a deflated entry that are read at a time if its value is not read whole. */
const PACKED_BYTES = 2 ** 18;

/** Bytes that are read at a time to check a value. */
const PIECE_BYTES = 2 ** 20;

const STORED = 0;
const DEFLATED = 8;

/**
 * A zip archive that is read in ranges, from a file or any other source. Its directory is read once, on opening.
 * Entries may be stored or deflated. The CRC is checked when all bytes of a value have been read, at once or in
 * parts. A symbolic link is not a missing key: reading it, listing it, or requesting a key below it fails with
 * `corrupt-store`.
 */
export class ZipStore implements ListableStore {
  static {
    markNativeStore(ZipStore.prototype);
  }

  readonly description: string;
  /** Skipped entries, symbolic links, duplicate names, and a wrong end record. */
  readonly findings: readonly StoreFinding[];
  readonly #reader: RangeReader;
  readonly #directory: ZipDirectory;
  readonly #entries: EntryReader;
  readonly #inflations = new OpenInflations();
  readonly #keys: KeyIndex;
  /** Reads stored entries; present if the archive is a file. */
  readonly getSync?: (key: string, options?: GetSyncOptions) => SyncRead | undefined;

  readonly comment?: Uint8Array;

  /** Present if the archive is remote. */
  readonly adjacentReads?: AdjacentReads;

  readonly #parts = new PartChecks();
  readonly checks: ValueChecks = this.#valueChecks();

  /** Version of the archive when its directory was read. */
  readonly #version: string | undefined;

  private constructor(
    reader: RangeReader,
    description: string,
    directory: ZipDirectory,
    version: string | undefined,
  ) {
    this.#version = version;
    this.description = description;
    this.findings = directory.findings;
    if (directory.comment.length > 0) this.comment = directory.comment;
    this.#reader = reader;
    this.#directory = directory;
    this.#entries = new EntryReader(reader);
    this.#keys = {
      sortedKeys: () => directory.index.sortedKeys(),
      storedKeys: () => directory.index.storedKeys(),
      sizeOf: (key) => this.#sizeOf(key),
      crc32Of: (key) => directory.index.crc32Of(key),
    };
    if (reader.readSync) this.getSync = (key, options) => this.#readSync(key, options);
    const { near } = this.#entries;
    if (near) {
      this.adjacentReads = {
        placeOf: (key) => this.#placeOf(key),
        hold: (part, offset, options) => this.#hold(near, part, offset, options),
      };
    }
  }

  /**
   * Reads the directory of the archive. The store takes ownership of `reader` and closes it, even on failure.
   *
   * @param description describes the archive, such as `zip era5.zarr.zip`.
   * @throws `corrupt-store` if there is no directory at the end, or it is broken; `path-not-allowed` if a name
   *   points outside the archive; `unsupported-operation` for archives in several files.
   */
  static async open(
    reader: RangeReader,
    description: string,
    options: ZipStoreOptions = {},
  ): Promise<ZipStore> {
    assertKnown(options, ZIP_OPTIONS);
    const { root = "", signal } = options;
    if (root !== "") assertKey(root);
    try {
      const version = await reader.version?.();
      const directory = await readDirectory(reader, root === "" ? "" : `${root}/`, signal);
      return new ZipStore(reader, description, directory, version ?? (await reader.version?.()));
    } catch (error) {
      await reader.close?.();
      throw withErrorContext(error, description);
    }
  }

  /**
   * @throws `corrupt-store` if the entry is broken, or its CRC is wrong; `unsupported-operation` if it is
   *   encrypted, or neither stored nor deflated.
   */
  async get(
    key: string,
    { range, isLeaf = false, allocate = plainBuffers.take, signal }: GetOptions = {},
  ): Promise<Uint8Array | undefined> {
    throwIfAborted(signal);
    assertKey(key);
    try {
      this.#assertNoLink(key);
      const entry = this.#directory.index.get(key);
      if (entry === undefined) {
        if (isLeaf && this.#directory.index.folders().has(key)) throw folderInPlace();
        return undefined;
      }
      assertReadable(entry);
      this.#entries.check(entry);
      const { offset, length } = resolveRange(range, entry.size);
      const bytes = allocate(length);
      if (length === 0 && entry.size > 0) return bytes;
      if (length === entry.size) {
        await this.#readWhole(entry, bytes, signal);
        this.#parts.noteWhole(key);
      } else await this.#readPart(key, entry, { offset, bytes, signal });
      throwIfAborted(signal);
      return bytes;
    } catch (error) {
      throw withErrorContext(error, this.description, key);
    }
  }

  /** Reads a part of a value. Fails if the CRC of the whole value is wrong. */
  async #readPart(
    key: string,
    entry: PlacedEntry,
    { offset, bytes, signal }: { offset: number; bytes: Uint8Array; signal: AbortSignal | undefined },
  ): Promise<void> {
    this.#assertNotWrong(key, entry);
    if (entry.method === STORED) await this.#entries.read(entry, offset, bytes, { isChecked: false, signal });
    else await this.#inflations.fill(entry.offset, offset, bytes, () => this.#inflation(entry));
    this.#parts.note(key, entry, offset, bytes);
    this.#assertNotWrong(key, entry);
  }

  #assertNotWrong(key: string, entry: ZipEntry): void {
    const found = this.#parts.wrongOf(key);
    if (found !== undefined) throw wrongCrc(entry, found);
  }

  #valueChecks(): ValueChecks {
    const parts = this.#parts;
    return {
      get unchecked() {
        return parts.unchecked;
      },
      check: (key, options) => this.#check(key, options),
      takeParts: () => parts.take(),
      addParts: (added) => {
        for (const [key, of] of byKey(added)) {
          const entry = this.#directory.index.get(key);
          if (entry === undefined || parts.add(key, entry, of)) continue;
          throw withErrorContext(wrongCrc(entry, parts.wrongOf(key) ?? 0), this.description, key);
        }
      },
    };
  }

  /** Reads the remaining ranges of a value, piece by piece. */
  async #check(key: string, { signal }: StoreOptions = {}): Promise<void> {
    const size = this.#sizeOf(key) ?? 0;
    if (size === 0) return void (await this.get(key, { signal }));
    const piece = new Uint8Array(Math.min(PIECE_BYTES, size));
    for (const { offset, length } of this.#parts.left(key, size)) {
      for (let done = 0; done < length; done += PIECE_BYTES) {
        const range = { offset: offset + done, length: Math.min(PIECE_BYTES, length - done) };
        await this.get(key, { range, allocate: (byteLength) => piece.subarray(0, byteLength), signal });
      }
    }
  }

  /**
   * Reads a value and checks its CRC. If the CRC is wrong and the start of the data was guessed, the value is read
   * again.
   */
  async #readWhole(entry: PlacedEntry, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    const isGuess = await this.#read(entry, bytes, { isChecked: true, signal });
    if (crc32(bytes) === entry.crc32) return;
    if (isGuess) await this.#read(entry, bytes, { isChecked: false, signal });
    assertStoredCrc(bytes, entry);
  }

  /** Fills `bytes` with the value. Returns true if its start was guessed. */
  async #read(entry: PlacedEntry, bytes: Uint8Array, access: EntryAccess): Promise<boolean> {
    if (entry.method === STORED) return this.#entries.read(entry, 0, bytes, access);
    const packed = new Uint8Array(entry.packedSize);
    const isGuess = await this.#entries.read(entry, 0, packed, access);
    try {
      await inflate(packed, bytes);
      return isGuess;
    } catch (error) {
      if (!isGuess) throw error;
      return this.#read(entry, bytes, { ...access, isChecked: false });
    }
  }

  /** Makes the inflation of a deflated entry, which reads packed bytes as needed. */
  #inflation(entry: PlacedEntry): Inflation {
    return new Inflation(inflaterHere.pieces(this.#packed(entry)), entry.size);
  }

  async *#packed(entry: PlacedEntry): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < entry.packedSize; at += PACKED_BYTES) {
      const part = new Uint8Array(Math.min(PACKED_BYTES, entry.packedSize - at));
      await this.#entries.read(entry, at, part, { isChecked: false, signal: undefined });
      yield part;
    }
  }

  async size(key: string, { signal }: StoreOptions = {}): Promise<number | undefined> {
    throwIfAborted(signal);
    assertKey(key);
    return this.#sizeOf(key);
  }

  list(prefix: string, options: ListOptions = {}): ReadableStream<KeyEntry> {
    const { onFolder } = options;
    if (onFolder) {
      for (const folder of this.#directory.index.folders())
        if (folder.startsWith(prefix)) onFolder(`${folder}/`);
    }
    return listKeys(this.#keys, prefix, options);
  }

  listDirectory(prefix: string, options: ListOptions = {}): ReadableStream<ListedEntry> {
    return listLevel(this.#keys, prefix, options);
  }

  /** Returns the place of a readable entry inside the archive; for other entries, `get` throws the error. */
  #placeOf(key: string): ValuePlace | undefined {
    const entry = this.#directory.index.get(key);
    const isPlain = entry?.method === STORED || entry?.method === DEFLATED;
    if (!entry || !isPlain || !this.#entries.isInside(entry)) return undefined;
    const bytesTaken = entry.size + (entry.method === STORED ? 0 : entry.packedSize);
    return { ...this.#entries.placeOf(entry), bytesTaken };
  }

  async #hold(near: NearReads, part: Uint8Array, offset: number, options?: StoreOptions) {
    try {
      return await near.hold(part, offset, options);
    } catch (error) {
      throw withErrorContext(error, this.description);
    }
  }

  #sizeOf(key: string): number | undefined {
    this.#assertNoLink(key);
    return this.#directory.index.sizeOf(key);
  }

  #assertNoLink(key: string): void {
    const link = this.#directory.index.linkOnTheWay(key);
    if (link !== undefined) throw withErrorContext(linkError(link), this.description);
  }

  /**
   * Identifies the state of the archive.
   *
   * @throws `source-changed` if it was overwritten.
   */
  async version({ signal }: StoreOptions = {}): Promise<string | undefined> {
    throwIfAborted(signal);
    const now = await this.#reader.version?.();
    if (now !== this.#version)
      throw withErrorContext(
        sourceChanged("the zip was overwritten while it was being read"),
        this.description,
      );
    return now;
  }

  #readSync(
    key: string,
    { into, range, allocate = plainBuffers.take, maxBytes = into?.length, signal }: GetSyncOptions = {},
  ): SyncRead | undefined {
    throwIfAborted(signal);
    assertKey(key);
    const entry = this.#directory.index.get(key);
    const isStored = entry?.method === STORED && entry.packedSize === entry.size;
    if (!entry || !isStored || !this.#entries.isInside(entry)) return undefined;
    const { offset, length } = resolveRange(range, entry.size);
    if (maxBytes !== undefined && length > maxBytes) return undefined;
    const bytes = into ? into.subarray(0, length) : allocate(length);
    const isWhole = length === entry.size;
    if (this.#parts.wrongOf(key) !== undefined) return undefined;
    if (!this.#entries.readSync(entry, offset, bytes, isWhole)) return undefined;
    if (!isWhole) return this.#parts.note(key, entry, offset, bytes) ? { bytes } : undefined;
    if (crc32(bytes) !== entry.crc32) return undefined;
    this.#parts.noteWhole(key);
    return { bytes };
  }

  async close(): Promise<void> {
    await this.#inflations.end();
    await this.#reader.close?.();
  }
}

function byKey(parts: readonly ReadPart[]): ReadonlyMap<string, readonly ReadPart[]> {
  const found = new Map<string, ReadPart[]>();
  for (const part of parts) {
    const known = found.get(part.key);
    if (known) known.push(part);
    else found.set(part.key, [part]);
  }
  return found;
}

function assertReadable({ method, packedSize, size }: ZipEntry): void {
  if (method === ENCRYPTED) throw new ZarrflowError("unsupported-operation", "the zip entry is encrypted");
  if (method === DEFLATED) assertInflatedSize(packedSize, size);
  else if (method !== STORED) {
    throw new ZarrflowError("unsupported-operation", "the zip entry has an unknown compression method", {
      value: `method ${method}`,
      hint: "Only stored and deflated entries can be read.",
    });
  } else if (packedSize !== size) {
    throw new ZarrflowError("corrupt-store", "the zip entry is stored, but its two sizes differ", {
      expected: size,
      found: packedSize,
    });
  }
}

function assertStoredCrc(bytes: Uint8Array, entry: ZipEntry): void {
  const found = crc32(bytes);
  if (found !== entry.crc32) throw wrongCrc(entry, found);
}

function wrongCrc({ crc32: expected }: ZipEntry, found: number): ZarrflowError {
  return new ZarrflowError("corrupt-store", "the CRC-32 of the zip entry differs", {
    expected: hex(expected),
    found: hex(found),
    hint: "The archive is damaged: get another copy. `unzip -t` lists all damaged entries.",
  });
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, "0");
}
