import type { StoredValue, StoreOptions, StoreWriter, WritableStore } from "../stores/store.ts";
import { markNativeStore } from "../stores/store-traits.ts";
import type { StoredEntry } from "../stores/zip/zip-records.ts";
import type { ZipWriter } from "../stores/zip/zip-writer.ts";
import { crc32 } from "../util/crc32.ts";
import { ZarrflowError } from "../util/errors.ts";
import { TextHashSet } from "../util/hash.ts";

/** A zip that already has values, to which more are added. */
export class ResumedZip implements WritableStore {
  static {
    markNativeStore(ResumedZip.prototype);
  }

  readonly singleWriter = true;
  readonly description: string;
  readonly #writer: ZipWriter;
  readonly #keys = new Set<string>();
  readonly #values = new TextHashSet();
  readonly setSync?: (key: string, bytes: Uint8Array) => boolean;

  constructor(writer: ZipWriter, entries: readonly StoredEntry[]) {
    this.#writer = writer;
    this.description = writer.description;
    const decoder = new TextDecoder();
    for (const { name, size, crc32 } of entries) {
      const key = decoder.decode(name);
      this.#keys.add(key);
      for (const value of [
        { key, size },
        { key, size, crc32 },
      ])
        this.#values.add(named(value));
    }
    const { setSync } = writer;
    if (setSync) {
      this.setSync = (key, bytes) => (this.#keys.has(key) ? this.#isThere(key, bytes) : setSync(key, bytes));
    }
  }

  hasValue(value: StoredValue): boolean {
    return this.#keys.has(value.key) && this.#values.has(named(value));
  }

  async set(key: string, bytes: Uint8Array, options?: StoreOptions): Promise<void> {
    if (!this.#keys.has(key)) return this.#writer.set(key, bytes, options);
    this.#isThere(key, bytes);
  }

  async openWriter(key: string, options?: StoreOptions): Promise<StoreWriter> {
    if (!this.#keys.has(key)) return this.#writer.openWriter(key, options);
    let size = 0;
    let checksum = 0;
    return {
      write: async (bytes) => {
        size += bytes.length;
        checksum = crc32(bytes, checksum);
      },
      commit: async () => this.#assertSame({ key, size, crc32: checksum }),
      abort: async () => {},
    };
  }

  delete(key: string, options?: StoreOptions): Promise<void> {
    return this.#writer.delete(key, options);
  }

  get(key: string): Promise<never> {
    return this.#writer.get(key);
  }

  size(key: string): Promise<never> {
    return this.#writer.size(key);
  }

  #isThere(key: string, bytes: Uint8Array): true {
    this.#writer.noteRoot(key, bytes);
    this.#assertSame({ key, size: bytes.length, crc32: crc32(bytes) });
    return true;
  }

  #assertSame(value: StoredValue): void {
    if (this.hasValue(value)) return;
    throw new ZarrflowError("target-not-empty", "the unfinished zip has a different value at this key", {
      key: value.key,
      store: this.description,
      hint: "Start over without --resume: another version of zarrflow may have begun the zip.",
    });
  }
}

function named({ key, size, crc32 }: StoredValue): string {
  return `${key}\n${size}\n${crc32 ?? ""}`;
}
