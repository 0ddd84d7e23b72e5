import { throwIfAborted } from "../util/abort.ts";
import { resolveRange } from "../util/byte-range.ts";
import { plainBuffers } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import { sortUtf8 } from "../util/names.ts";
import type { ReadableStream } from "../util/web-streams.ts";
import { assertKey, assertRename } from "./key.ts";
import { type KeyIndex, listKeys, listLevel } from "./sorted-keys.ts";
import type {
  GetOptions,
  KeyEntry,
  ListableStore,
  ListedEntry,
  StoreOptions,
  StoreWriter,
  VersionOptions,
  WritableStore,
} from "./store.ts";
import { markNativeStore } from "./store-traits.ts";
import { assertMissing, assertVersion } from "./version.ts";
import { bufferedWriter } from "./writer.ts";

/**
 * Keys and values in the memory of this process. Bytes are copied when they are written and when they are read.
 *
 * @example
 * ```ts
 * import { MemoryStore } from "zarrflow/stores/memory";
 *
 * const store = new MemoryStore();
 * await store.set("t2m/.zattrs", new TextEncoder().encode("{}"));
 * console.log(await store.size("t2m/.zattrs")); // 2
 * ```
 */
export class MemoryStore implements ListableStore, WritableStore {
  static {
    markNativeStore(MemoryStore.prototype);
  }

  readonly description: string;
  readonly #values = new Map<string, Uint8Array>();
  readonly #index: KeyIndex = {
    sortedKeys: () => sortUtf8([...this.#values.keys()]),
    sizeOf: (key) => this.#values.get(key)?.length,
  };

  constructor(description = "memory") {
    this.description = description;
  }

  async get(
    key: string,
    { range, allocate = plainBuffers.take, signal, ...version }: GetOptions = {},
  ): Promise<Uint8Array | undefined> {
    throwIfAborted(signal);
    assertKey(key);
    const value = this.#values.get(key);
    if (value === undefined) return assertMissing(version);
    assertVersion(version, versionOf(value));
    const { offset, length } = resolveRange(range, value.length);
    const bytes = allocate(length);
    bytes.set(value.subarray(offset, offset + length));
    return bytes;
  }

  async size(key: string, { signal, onVersion }: VersionOptions = {}): Promise<number | undefined> {
    throwIfAborted(signal);
    assertKey(key);
    const value = this.#values.get(key);
    if (value) onVersion?.(versionOf(value));
    return value?.length;
  }

  list(prefix: string, { signal }: StoreOptions = {}): ReadableStream<KeyEntry> {
    return listKeys(this.#index, prefix, { signal });
  }

  listDirectory(prefix: string, { signal }: StoreOptions = {}): ReadableStream<ListedEntry> {
    return listLevel(this.#index, prefix, { signal });
  }

  async set(key: string, bytes: Uint8Array, { signal }: StoreOptions = {}): Promise<void> {
    throwIfAborted(signal);
    assertKey(key);
    this.#values.set(key, new Uint8Array(bytes));
  }

  async openWriter(key: string, { signal }: StoreOptions = {}): Promise<StoreWriter> {
    throwIfAborted(signal);
    assertKey(key);
    const set = async (bytes: Uint8Array) => {
      this.#values.set(key, bytes);
    };
    return bufferedWriter(key, set, signal);
  }

  async delete(key: string, { signal }: StoreOptions = {}): Promise<void> {
    throwIfAborted(signal);
    assertKey(key);
    this.#values.delete(key);
  }

  async rename(from: string, to: string, { signal }: StoreOptions = {}): Promise<void> {
    throwIfAborted(signal);
    assertRename(from, to);
    const isAt = (place: string) => (key: string) =>
      place.endsWith("/") ? key.startsWith(place) : key === place;
    const keys = [...this.#values.keys()];
    const moved = keys.filter(isAt(from));
    const there = keys.find(isAt(to));
    if (moved.length > 0 && there !== undefined) {
      throw new ZarrflowError("target-exists", "the new name already exists", {
        key: there,
        store: this.description,
      });
    }
    for (const key of moved) {
      this.#values.set(to + key.slice(from.length), this.#values.get(key) ?? new Uint8Array());
      this.#values.delete(key);
    }
  }
}

/** A number for each stored value; a new value gets a new number. */
const versions = new WeakMap<Uint8Array, string>();
let latest = 0;

function versionOf(value: Uint8Array): string {
  const known = versions.get(value) ?? `${++latest}`;
  versions.set(value, known);
  return known;
}

const named = new Map<string, MemoryStore>();

/** Returns the store that `memory:NAME` names in this process, if any. */
export function namedMemoryStore(name: string): MemoryStore | undefined {
  return named.get(name);
}

/** Binds `memory:NAME` to `store`, or to nothing. */
export function nameMemoryStore(name: string, store: MemoryStore | undefined): void {
  if (store === undefined) named.delete(name);
  else named.set(name, store);
}
