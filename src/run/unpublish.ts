import { ConsolidatedMetadata, type DocumentStore } from "../hierarchy/edit/consolidated.ts";
import type { ZarrNode } from "../hierarchy/node.ts";
import { type ReadDocumentOptions, readDocument } from "../hierarchy/stored-documents.ts";
import type { Documents } from "../meta/format.ts";
import { formatNamed } from "../meta/formats.ts";
import { bytesEqual } from "../util/bytes.ts";
import { joinKey, nearest } from "../util/node-path.ts";

/**
 * Number of arrays that are removed from consolidated metadata one by one. Each removal rewrites these metadata, so
 * after that many, all remaining arrays are removed together.
 */
const HIDDEN_SINGLY = 16;

/**
 * Manages the documents of a target that is updated in place. A node is hidden before the chunks below it change, so
 * that readers never find an array of old and new chunks, neither during the update nor after an interrupted one.
 */
export class Unpublisher {
  readonly #store: DocumentStore;
  readonly #nodes: ReadonlyMap<string, ZarrNode>;
  readonly #options: ReadDocumentOptions;
  /** Current bytes of documents; undefined for those that do not exist. */
  readonly #now: Map<string, Uint8Array | undefined>;
  readonly #unpublished = new Map<ZarrNode, Promise<void>>();
  #consolidated: Promise<ConsolidatedMetadata> | undefined;
  /** Number of arrays that were removed from the consolidated metadata so far. */
  #hidden = 0;
  #hiding: Promise<void> = Promise.resolve();

  /** @param store the store of the target; one that only records changes gives a dry run */
  constructor(store: DocumentStore, nodes: ReadonlyMap<string, ZarrNode>, options: ReadDocumentOptions) {
    this.#store = store;
    this.#nodes = nodes;
    this.#options = options;
    this.#now = new Map([...nodes.values()].flatMap(({ documents }) => [...documents]));
  }

  /** Reads documents that do not belong to the known nodes. */
  async look(keys: Iterable<string>): Promise<void> {
    for (const key of keys) {
      if (!this.#now.has(key))
        this.#now.set(key, (await readDocument(this.#store, key, this.#options))?.bytes);
    }
  }

  /** Returns the documents that do not exist or have other bytes. */
  outdated(documents: Documents): Map<string, Uint8Array> {
    return new Map([...documents].filter(([key, bytes]) => !bytesEqual(bytes, this.#now.get(key))));
  }

  /** Deletes obsolete documents, before any other change. */
  async begin(extra: readonly string[]): Promise<void> {
    if (extra.length > 0) await this.#hideKeys((key) => extra.includes(key));
    for (const key of extra) await this.#delete(key);
  }

  /** Hides the array that has a chunk at this key, if there is one. Each array is hidden once. */
  async before(key: string): Promise<void> {
    const [first] = this.#nodes.values();
    if (first === undefined) return;
    const node = nearest(formatNamed(first.layout.zarrFormat).layout("").hierarchy.pathOf(key), this.#nodes);
    if (node?.kind !== "array") return;
    const { layout, shape, metadata } = node;
    if (!layout.parseChunkKey(key, shape.length, metadata.chunkKeyEncoding)) return;
    const done = this.#unpublished.get(node) ?? this.#unpublish(node);
    this.#unpublished.set(node, done);
    await done;
  }

  async #unpublish({ path, layout, documents }: ZarrNode): Promise<void> {
    await this.#hide(path);
    for (const key of documents.keys()) if (key !== layout.attributesKey) await this.#delete(key);
  }

  /** Removes the array at a path from consolidated metadata; from the 17th array on, removes all arrays at once. */
  #hide(path: string): Promise<void> {
    this.#hiding = this.#hiding.then(async () => {
      this.#hidden++;
      if (this.#hidden > HIDDEN_SINGLY + 1) return;
      if (this.#hidden <= HIDDEN_SINGLY) await this.#hideKeys((key) => key.startsWith(joinKey(path, "")));
      else await this.#hideKeys((key) => this.#isOfArray(key));
    });
    return this.#hiding;
  }

  async #hideKeys(isHidden: (key: string) => boolean): Promise<void> {
    const groups = [...this.#nodes].flatMap(([path, { kind }]) => (kind === "group" ? [path] : []));
    this.#consolidated ??= ConsolidatedMetadata.find(this.#store, groups, this.#options);
    for (const [key, bytes] of await (await this.#consolidated).hideKeys(isHidden)) this.#now.set(key, bytes);
  }

  #isOfArray(key: string): boolean {
    return nearest(key, this.#nodes)?.kind === "array";
  }

  async #delete(key: string): Promise<void> {
    await this.#store.delete(key, { signal: this.#options.signal });
    this.#now.set(key, undefined);
  }
}
