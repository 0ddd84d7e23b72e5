import { crc32 } from "../../util/crc32.ts";
import { byDepth, isNamedDocument } from "../key.ts";
import type { ByteSink } from "../writer.ts";
import {
  dataDescriptor,
  directoryEntry,
  type EntryEncoder,
  endRecords,
  entryEnd,
  localHeader,
  MAX_32_BIT,
  type StoredEntry,
} from "./zip-records.ts";

/** Existing contents of an archive. */
export interface WrittenEntries {
  readonly entries: readonly StoredEntry[];
  /** Bytes that the sink has; no entry ends after them. By default up to the end of the last entry. */
  readonly bytes?: number | undefined;
}

export interface StoredEncoderOptions {
  readonly written?: WrittenEntries | undefined;
  /** Called with each new entry that the sink has taken. */
  readonly onEntry?: ((entry: StoredEntry) => void) | undefined;
  /** True to list the documents first in the directory, sorted by depth from the root. */
  readonly documentsFirst?: boolean;
}

/**
 * Writes entries uncompressed, byte for byte as yazl does, but in constant time for each entry. yazl visits all
 * earlier entries for each new one: 60,000 of 4 KiB took it 22 s, and take 1 s here.
 */
export class StoredEncoder implements EntryEncoder {
  readonly #sink: ByteSink;
  readonly #utf8 = new TextEncoder();
  readonly #directory = new ByteLog();
  #entries = 0;
  /** Bytes written so far. */
  #offset = 0;
  #open: StoredEntry | undefined;
  readonly #onEntry: (entry: StoredEntry) => void;
  /** Entries that come first in the directory; undefined if all stay in order. */
  readonly #documents: { readonly key: string; readonly record: Uint8Array }[] | undefined;

  readonly addSync?: (key: string, bytes: Uint8Array) => boolean;

  constructor(
    sink: ByteSink,
    { written = { entries: [] }, onEntry = () => {}, documentsFirst = false }: StoredEncoderOptions = {},
  ) {
    this.#sink = sink;
    this.#onEntry = onEntry;
    this.#documents = documentsFirst ? [] : undefined;
    for (const entry of written.entries) {
      this.#offset = entryEnd(entry);
      this.#enter(entry);
    }
    this.#offset = written.bytes ?? this.#offset;
    if (sink.writeSync) this.addSync = (key, bytes) => this.#addSync(key, bytes);
  }

  async add(key: string, bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_32_BIT) {
      await this.begin(key);
      await this.write(bytes);
      await this.end();
      return;
    }
    const entry = this.#entryOf(key, bytes);
    await this.#append(localHeader(entry));
    await this.#append(bytes);
    this.#list(entry);
  }

  async begin(key: string): Promise<void> {
    this.#open = { name: this.#utf8.encode(key), offset: this.#offset, size: 0, crc32: 0, sizesFollow: true };
    await this.#append(localHeader(this.#open));
  }

  async write(bytes: Uint8Array): Promise<void> {
    const entry = this.#opened();
    await this.#append(bytes);
    this.#open = { ...entry, size: entry.size + bytes.length, crc32: crc32(bytes, entry.crc32) };
  }

  /**
   * Writes size and CRC into the local header, which all readers understand, if the sink can patch; otherwise
   * after the data.
   */
  async end(): Promise<void> {
    const entry = this.#opened();
    if (this.#sink.patch !== undefined && entry.size <= MAX_32_BIT) {
      const known = { ...entry, sizesFollow: false };
      await this.#sink.patch(entry.offset, localHeader(known));
      this.#list(known);
    } else {
      await this.#append(dataDescriptor(entry));
      this.#list(entry);
    }
    this.#open = undefined;
  }

  async finish(comment?: Uint8Array): Promise<void> {
    const offset = this.#offset;
    const documents = this.#documents?.sort((a, b) => byDepth(a.key, b.key)) ?? [];
    for (const { record } of documents) await this.#append(record);
    for (const block of this.#directory.blocks()) await this.#append(block);
    await this.#append(endRecords(this.#entries, offset, this.#offset - offset, comment));
  }

  #addSync(key: string, bytes: Uint8Array): boolean {
    const entry = this.#entryOf(key, bytes);
    const header = localHeader(entry);
    if (!this.#sink.writeSync?.(header, bytes)) return false;
    this.#offset += header.length + bytes.length;
    this.#list(entry);
    return true;
  }

  /** Makes a complete entry of at most 4 GiB, at the end of the bytes written so far. */
  #entryOf(key: string, bytes: Uint8Array): StoredEntry {
    return {
      name: this.#utf8.encode(key),
      offset: this.#offset,
      size: bytes.length,
      crc32: crc32(bytes),
      sizesFollow: false,
    };
  }

  async #append(bytes: Uint8Array): Promise<void> {
    await this.#sink.write(bytes);
    this.#offset += bytes.length;
  }

  #list(entry: StoredEntry): void {
    this.#enter(entry);
    this.#onEntry(entry);
  }

  #enter(entry: StoredEntry): void {
    const record = directoryEntry(entry);
    const key = this.#documents && new TextDecoder().decode(entry.name);
    if (key !== undefined && isNamedDocument(key)) this.#documents?.push({ key, record });
    else this.#directory.append(record);
    this.#entries++;
  }

  #opened(): StoredEntry {
    if (this.#open === undefined) throw new TypeError("no entry was started");
    return this.#open;
  }
}

const BLOCK_BYTES = 64 * 1024;

/** Bytes that grow at the end, in blocks, so that growing copies nothing. */
class ByteLog {
  readonly #blocks: Uint8Array[] = [];
  /** Bytes used in the last block. */
  #used = BLOCK_BYTES;

  append(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0; ) {
      if (this.#used === BLOCK_BYTES) {
        this.#blocks.push(new Uint8Array(BLOCK_BYTES));
        this.#used = 0;
      }
      const part = rest.subarray(0, BLOCK_BYTES - this.#used);
      this.#blocks.at(-1)?.set(part, this.#used);
      this.#used += part.length;
      rest = rest.subarray(part.length);
    }
  }

  *blocks(): Generator<Uint8Array> {
    yield* this.#blocks.slice(0, -1);
    const last = this.#blocks.at(-1);
    if (last !== undefined) yield last.subarray(0, this.#used);
  }
}
