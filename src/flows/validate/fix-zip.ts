import { pieceBytesWithin } from "../../plan/memory.ts";
import { copyValue } from "../../run/keys/copy-value.ts";
import {
  type GetOptions,
  isListable,
  type KeyEntry,
  type ListableStore,
  type ListOptions,
  type Store,
  type StoreSpec,
  type VersionOptions,
  type WritableStore,
} from "../../stores/store.ts";
import { bufferedWriter } from "../../stores/writer.ts";
import { openTargetBuild } from "../../targets/index.ts";
import { resolveRange } from "../../util/byte-range.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { streamFrom } from "../../util/web-streams.ts";

/**
 * Shows a store with changes to some of its values, which stay in memory and are never written. Listings omit removed
 * keys, and do not include new ones.
 */
export class OverlayStore implements ListableStore, WritableStore {
  readonly description: string;
  readonly #base: Store;
  readonly #changes = new Map<string, Uint8Array | undefined>();

  constructor(base: Store) {
    this.#base = base;
    this.description = base.description;
  }

  /** Changed values by key; undefined for a removed one. */
  get changes(): ReadonlyMap<string, Uint8Array | undefined> {
    return this.#changes;
  }

  async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    if (!this.#changes.has(key)) return this.#base.get(key, options);
    const value = this.#changes.get(key);
    if (value === undefined) return undefined;
    const { offset, length } = resolveRange(options.range, value.length);
    const bytes = (options.allocate ?? plainBuffers.take)(length);
    bytes.set(value.subarray(offset, offset + length));
    return bytes;
  }

  async size(key: string, options: VersionOptions = {}): Promise<number | undefined> {
    return this.#changes.has(key) ? this.#changes.get(key)?.length : this.#base.size(key, options);
  }

  list(prefix: string, options: ListOptions = {}) {
    const base = this.#listable();
    return streamFrom(this.#left(base.list(prefix, options)));
  }

  listDirectory(prefix: string, options: ListOptions = {}) {
    const base = this.#listable();
    return streamFrom(this.#left(base.listDirectory(prefix, options)));
  }

  async set(key: string, bytes: Uint8Array): Promise<void> {
    this.#changes.set(key, bytes.slice());
  }

  async openWriter(key: string) {
    return bufferedWriter(key, (bytes) => this.set(key, bytes), undefined);
  }

  async delete(key: string): Promise<void> {
    this.#changes.set(key, undefined);
  }

  async *#left<T extends KeyEntry | { readonly prefix: string }>(
    listed: AsyncIterable<T>,
  ): AsyncGenerator<T> {
    for await (const entry of listed) {
      if (!("key" in entry) || !this.#changes.has(entry.key)) yield entry;
      else {
        const size = this.#changes.get(entry.key)?.length;
        if (size !== undefined) yield { ...entry, size };
      }
    }
  }

  #listable(): ListableStore {
    if (isListable(this.#base)) return this.#base;
    throw new ZarrflowError("unsupported-operation", "this store cannot list its keys", {
      store: this.description,
    });
  }
}

/**
 * Rewrites a zip with each key once and some values changed or left out, and replaces the old zip when the new one is
 * complete. Values are not deflated.
 *
 * @throws `source-changed` if the zip is overwritten in the meantime.
 */
export async function rewriteZip(
  zip: ListableStore,
  spec: StoreSpec,
  changes: ReadonlyMap<string, Uint8Array | undefined>,
  { maxMemory, signal }: { readonly maxMemory: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const build = await openTargetBuild(spec, { ifExists: "replace", comment: zip.comment, signal });
  try {
    const pieceBytes = pieceBytesWithin(maxMemory / 2);
    for await (const { key, size = 0 } of zip.list("", { asStored: true, signal })) {
      const value = changes.get(key);
      if (value) await build.store.set(key, value, { signal });
      if (changes.has(key)) continue;
      const options = { size, pieceBytes, buffers: plainBuffers, onPiece: () => {}, signal };
      await copyValue({ store: zip, key }, { store: build.store, key }, options);
    }
    await zip.version?.({ signal });
    await build.publish({ signal });
  } catch (error) {
    await build.discard();
    throw error;
  }
}
