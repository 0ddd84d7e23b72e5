import { throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { assertKnown, type OptionNames } from "../../util/options.ts";
import { assertKey } from "../key.ts";
import type { StoreOptions, StoreWriter, WritableStore } from "../store.ts";
import { markNativeStore } from "../store-traits.ts";
import { type ByteSink, serialized } from "../writer.ts";
import { DeflatingEncoder } from "./deflating-encoder.ts";
import { StoredEncoder, type WrittenEntries } from "./stored-encoder.ts";
import type { EntryEncoder, StoredEntry } from "./zip-records.ts";

export interface ZipWriterOptions {
  /**
   * Deflates entries at this level, 1 to 9, instead of storing them uncompressed. Chunks are mostly compressed
   * already.
   *
   * @default undefined
   */
  readonly deflate?: number | undefined;
  /** Comment of the archive, at most 65,535 bytes. */
  readonly comment?: Uint8Array | undefined;
  /**
   * True to write an OME-Zarr file per RFC-9 of OME-NGFF: the directory lists the documents first, from the root
   * down, and the comment states the version of the image.
   */
  readonly isOme?: boolean | undefined;
  /** Stored entries that the sink already has. */
  readonly written?: WrittenEntries | undefined;
  /** Called with each stored entry that the sink has taken. */
  readonly onEntry?: ((entry: StoredEntry) => void) | undefined;
}

const ZIP_WRITER_OPTIONS: OptionNames<ZipWriterOptions> = {
  deflate: true,
  comment: true,
  isOme: true,
  written: true,
  onEntry: true,
};

/**
 * Writes a zip archive to a sink in order: one value at a time, each key once. Nothing can be read back before
 * `finish` has written the directory. The same values in the same order give the same bytes.
 *
 * Calls wait for each other; while a writer is open, all others wait for its end. Once the sink fails, or a writer
 * is aborted that has written something, every later call fails with the reason.
 */
export class ZipWriter implements WritableStore {
  static {
    markNativeStore(ZipWriter.prototype);
  }

  readonly singleWriter = true;
  readonly description: string;
  readonly #sink: ByteSink;
  readonly #encoder: EntryEncoder;
  readonly #keys = new Set<string>();
  readonly #isOme: boolean;
  #comment: Uint8Array | undefined;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #failure: { readonly reason: unknown } | undefined;
  #isFinished = false;
  /** Present if the sink has synchronous writes and entries are stored. */
  readonly setSync?: (key: string, bytes: Uint8Array) => boolean;

  /** @param description describes the archive, such as `zip era5.zarr.zip`. */
  constructor(sink: ByteSink, description: string, options: ZipWriterOptions = {}) {
    assertKnown(options, ZIP_WRITER_OPTIONS);
    const { deflate, comment, isOme = false, written, onEntry } = options;
    if (deflate !== undefined && !(Number.isInteger(deflate) && deflate >= 1 && deflate <= 9)) {
      throw new ZarrflowError("invalid-option", "the deflate level must be 1 to 9", { value: deflate });
    }
    this.description = description;
    this.#sink = sink;
    this.#comment = comment;
    this.#isOme = isOme;
    this.#encoder =
      deflate === undefined
        ? new StoredEncoder(sink, {
            written: written && this.#noted(written),
            onEntry,
            documentsFirst: isOme,
          })
        : new DeflatingEncoder(sink, deflate);
    if (this.#encoder.addSync) this.setSync = (key, bytes) => this.#setSync(key, bytes);
  }

  /** @throws `target-not-empty` if the key was written before. */
  async set(key: string, bytes: Uint8Array, { signal }: StoreOptions = {}): Promise<void> {
    assertKey(key);
    const release = await this.#turn(signal);
    try {
      this.#claim(key);
      await this.#attempt(() => this.#encoder.add(key, bytes));
      this.noteRoot(key, bytes);
    } finally {
      release();
    }
  }

  /** @throws `target-not-empty` if the key was written before. */
  async openWriter(key: string, { signal }: StoreOptions = {}): Promise<StoreWriter> {
    assertKey(key);
    const release = await this.#turn(signal);
    let hasBegun = false;
    const step = async (encode: () => Promise<void>) => {
      try {
        await this.#attempt(async () => {
          if (!hasBegun) {
            hasBegun = true;
            await this.#encoder.begin(key);
          }
          await encode();
        });
      } catch (error) {
        release();
        throw error;
      }
    };
    try {
      this.#claim(key);
    } catch (error) {
      release();
      throw error;
    }
    return serialized(
      {
        write: (bytes) => step(() => this.#encoder.write(bytes)),
        commit: async () => {
          await step(() => this.#encoder.end());
          release();
        },
        abort: async (reason) => {
          if (hasBegun)
            this.#fail(
              reason ?? new ZarrflowError("aborted", "writing a value was aborted before its end", { key }),
            );
          else this.#keys.delete(key);
          release();
        },
      },
      key,
      signal,
    );
  }

  /** @throws `unsupported-operation` if the key was written: an archive only grows. */
  async delete(key: string, { signal }: StoreOptions = {}): Promise<void> {
    throwIfAborted(signal);
    assertKey(key);
    if (this.#keys.has(key))
      throw this.#unsupported("values of a zip cannot be changed while it is being written", key);
  }

  /** @throws `unsupported-operation` always. */
  async get(key: string): Promise<never> {
    throw this.#unsupported("a zip archive cannot be read while it is being written", key);
  }

  /** @throws `unsupported-operation` always. */
  async size(key: string): Promise<never> {
    throw this.#unsupported("a zip archive cannot be read while it is being written", key);
  }

  /** Writes the directory and closes the sink, after all earlier calls. Has no effect the second time. */
  async finish(): Promise<void> {
    const release = await this.#turn(undefined);
    try {
      if (this.#isFinished) return;
      await this.#attempt(async () => {
        await this.#encoder.finish(this.#comment);
        await this.#sink.close();
      });
      this.#isFinished = true;
    } finally {
      release();
    }
  }

  /** Reads the version of an image from the root document, new or existing, for the comment. */
  noteRoot(key: string, document: Uint8Array): void {
    if (!this.#isOme || key !== "zarr.json") return;
    const version = omeVersion(document);
    if (version === undefined || version === omeVersionOf(this.#comment)) return;
    this.#comment = new TextEncoder().encode(JSON.stringify({ ome: { version } }));
  }

  /** Aborts the archive: later calls fail with `reason`. Has no effect after `finish`. */
  async abort(reason: unknown): Promise<void> {
    if (this.#isFinished) return;
    this.#fail(reason);
    await this.#sink.abort(reason);
  }

  #noted(written: WrittenEntries): WrittenEntries {
    const decoder = new TextDecoder();
    for (const { name } of written.entries) this.#keys.add(decoder.decode(name));
    return written;
  }

  #setSync(key: string, bytes: Uint8Array): boolean {
    assertKey(key);
    const isIdle = this.#waiting === 0 && this.#failure === undefined && !this.#isFinished;
    if (!isIdle || this.#keys.has(key) || !this.#encoder.addSync?.(key, bytes)) return false;
    this.#keys.add(key);
    this.noteRoot(key, bytes);
    return true;
  }

  /** Waits for earlier calls. Later ones wait until the returned function is called. */
  async #turn(signal: AbortSignal | undefined): Promise<() => void> {
    const before = this.#last;
    let release = () => {};
    this.#waiting++;
    this.#last = new Promise((resolve) => {
      let isHeld = true;
      release = () => {
        if (isHeld) this.#waiting--;
        isHeld = false;
        resolve();
      };
    });
    await before;
    try {
      throwIfAborted(signal);
      if (this.#failure !== undefined) throw this.#failure.reason;
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  #claim(key: string): void {
    if (this.#isFinished) throw this.#unsupported("the zip is already complete", key);
    if (this.#keys.has(key)) {
      throw new ZarrflowError(
        "target-not-empty",
        "the key is already written, and a zip can contain each key only once",
        {
          key,
          store: this.description,
        },
      );
    }
    this.#keys.add(key);
  }

  /** Runs a step. After a failure of the sink, its contents are unknown, so all later steps fail. */
  async #attempt(step: () => Promise<void>): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.reason;
    try {
      await step();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Records the first failure, and returns the reason with which all later calls fail. */
  #fail(reason: unknown): unknown {
    this.#failure ??= { reason };
    return this.#failure.reason;
  }

  #unsupported(reason: string, key: string): ZarrflowError {
    return new ZarrflowError("unsupported-operation", reason, { key, store: this.description });
  }
}

/** True if this is the name of an OME-Zarr file. */
export function isOmeZip(name: string): boolean {
  return name.toLowerCase().endsWith(".ozx");
}

/** Returns the version of the image that a root document describes. */
function omeVersion(document: Uint8Array): string | undefined {
  return versionIn(parsed(document)?.attributes);
}

/** Returns the version that a comment states. */
function omeVersionOf(comment: Uint8Array | undefined): string | undefined {
  return comment && versionIn(parsed(comment));
}

function versionIn(json: unknown): string | undefined {
  const version = isObject(json) && isObject(json.ome) ? json.ome.version : undefined;
  return typeof version === "string" ? version : undefined;
}

function parsed(bytes: Uint8Array): { readonly [name: string]: unknown } | undefined {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

function isObject(json: unknown): json is { readonly [name: string]: unknown } {
  return typeof json === "object" && json !== null;
}
