import type { ZarrNode } from "../hierarchy/node.ts";
import {
  type ReadDocumentOptions,
  readDocument,
  type StoredDocument,
} from "../hierarchy/stored-documents.ts";
import type { MissingWatch, Store, StoreOptions } from "../stores/store.ts";
import { sourceChanged } from "../stores/version.ts";
import { forEachConcurrent } from "../streams/for-each-concurrent.ts";
import { processSync } from "../util/blocking-io.ts";
import { crc32 } from "../util/crc32.ts";

/** State of a document when the flow began: its version or, if the store has no versions, its size and checksum. */
type DocumentState = string | { readonly size: number; readonly crc32: number };

interface WatchedDocument {
  readonly store: Store;
  readonly key: string;
  /** The bytes that were read. */
  readonly bytes: Uint8Array;
  readonly state: DocumentState;
  readonly maxMetadata: number | undefined;
}

/**
 * Detects changes of the source during a flow. The check comes at the end, before the result becomes visible. If the
 * source was removed or replaced in the meantime, its chunks may have read as missing, or may come from two versions.
 */
export class SourceWatch {
  readonly #places = new Map<Store, string | undefined>();
  readonly #missing: MissingWatch[] = [];
  readonly #documents = new Map<Store, Map<string, WatchedDocument>>();
  readonly #read = new Map<string, Uint8Array>();

  /**
   * Starts watching the stores of the nodes. Call it before any chunk is read.
   *
   * @param isShared true if other data, such as the target, may be stored beside the nodes: only chunks of the nodes
   *   then count as missing
   */
  static async begin(
    nodes: Iterable<ZarrNode>,
    others: readonly Store[] = [],
    { isShared = false, signal }: StoreOptions & { readonly isShared?: boolean } = {},
  ): Promise<SourceWatch> {
    const watch = new SourceWatch();
    const prefixes = new Map<Store, string[]>();
    for (const node of nodes) {
      watch.#add(node);
      if (!isShared || node.kind === "group") continue;
      prefixes.set(node.store, [...(prefixes.get(node.store) ?? []), node.layout.chunksPrefix]);
    }
    for (const store of new Set([...watch.#documents.keys(), ...others])) {
      watch.#places.set(store, await store.version?.({ signal }));
      const missing = store.watchMissing?.(prefixes.get(store));
      if (missing) watch.#missing.push(missing);
    }
    return watch;
  }

  /**
   * Checks that the stores are still those that were opened, and that the documents of all nodes have not changed. Each
   * document takes one request, which does not read it again if the store has versions. Chunks that were found missing
   * must have been missing from the start, if the store can tell.
   *
   * @throws `source-changed` with the first difference.
   */
  async assertUnchanged({
    concurrency,
    signal,
  }: StoreOptions & { readonly concurrency: number }): Promise<void> {
    for (const [store, version] of this.#places) {
      if ((await store.version?.({ signal })) === version) continue;
      throw changed("the source was replaced or removed").addContext({
        store: store.description,
      });
    }
    const check = (document: WatchedDocument, context: StoreOptions) => assertSame(document, context);
    const left = processSync([this.#watched()], bytesIfSame, signal);
    await forEachConcurrent(left, check, { concurrency, signal });
    for (const missing of this.#missing) await missing.assertUnchanged({ signal });
  }

  /** Keys of the documents, with the size and CRC-32 of the bytes that were read. */
  states(): (readonly [key: string, size: number, crc32: number])[] {
    return [...this.#read].map(([key, bytes]) => [key, bytes.length, crc32(bytes)]);
  }

  /**
   * Returns a document as it was read, which `assertUnchanged` compares with the store; undefined if it was not read.
   */
  document(store: Store, key: string): Uint8Array | undefined {
    return this.#documents.get(store)?.get(key)?.bytes;
  }

  /** Stops watching for missing chunks. */
  end(): void {
    for (const missing of this.#missing) missing.end();
  }

  #add({ store, stored, reading: { maxMetadata } }: ZarrNode): void {
    const known = this.#documents.get(store) ?? new Map<string, WatchedDocument>();
    this.#documents.set(store, known);
    for (const [key, document] of stored) {
      this.#read.set(key, document.bytes);
      const { bytes } = document;
      if (!known.has(key)) known.set(key, { store, key, bytes, state: stateOf(document), maxMetadata });
    }
  }

  *#watched(): Generator<WatchedDocument> {
    for (const documents of this.#documents.values()) yield* documents.values();
  }
}

/** Checks the version of a document with blocking calls. Returns undefined unless it is certain to be the same. */
function bytesIfSame({ store, key, state }: WatchedDocument): number | undefined {
  if (typeof state !== "string") return undefined;
  let version: string | undefined;
  const onVersion = (of: string) => {
    version = of;
  };
  store.getSync?.(key, { range: { offset: 0, length: 0 }, onVersion });
  return version === state ? 0 : undefined;
}

async function assertSame(
  { store, key, state, maxMetadata }: WatchedDocument,
  { signal }: StoreOptions,
): Promise<void> {
  const found = await stateNow(store, key, { isVersion: typeof state === "string", maxMetadata, signal });
  if (JSON.stringify(found) === JSON.stringify(state)) return;
  const reason =
    found === undefined
      ? "a metadata document of the source was removed after it was read"
      : "a metadata document of the source was changed after it was read";
  throw changed(reason).addContext({ store: store.description, key });
}

async function stateNow(
  store: Store,
  key: string,
  { isVersion, ...options }: ReadDocumentOptions & { readonly isVersion: boolean },
): Promise<DocumentState | undefined> {
  if (isVersion) {
    let version: string | undefined;
    const onVersion = (of: string) => {
      version = of;
    };
    const size = await store.size(key, { onVersion, signal: options.signal });
    if (size === undefined || version !== undefined) return version;
  }
  const document = await readDocument(store, key, options);
  return document && stateOf(document);
}

function stateOf({ version, bytes }: StoredDocument): DocumentState {
  return version ?? { size: bytes.length, crc32: crc32(bytes) };
}

function changed(reason: string) {
  return sourceChanged(`${reason}: the data read may be a mix of two versions`);
}
