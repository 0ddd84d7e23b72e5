import { ConsolidatedMetadata, type DocumentStore } from "../../hierarchy/edit/consolidated.ts";
import type { ZarrNode } from "../../hierarchy/node.ts";
import { type ReadDocumentOptions, readDocument } from "../../hierarchy/stored-documents.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { joinKey } from "../../meta/join-key.ts";
import { nearest } from "../target/nearest-node.ts";

/** Arrays that leave consolidated metadata one by one, before all of them do: each writes these anew. */
const HIDDEN_SINGLY = 16;

/**
 * The documents of a target that is changed at its place. Nodes are taken out of view before what lies below them
 * changes, so that whoever reads it meanwhile, or after a run that was cut, finds no array of old and new chunks.
 */
export class Unpublisher {
  readonly #store: DocumentStore;
  readonly #nodes: ReadonlyMap<string, ZarrNode>;
  readonly #options: ReadDocumentOptions;
  /** What documents hold; undefined for those that are not there. */
  readonly #now: Map<string, Uint8Array | undefined>;
  readonly #unpublished = new Map<ZarrNode, Promise<void>>();
  #consolidated: Promise<ConsolidatedMetadata> | undefined;
  /** How many arrays have left the consolidated metadata, one after the other. */
  #hidden = 0;
  #hiding: Promise<void> = Promise.resolve();

  /** @param store the target's; one that only records changes shows what would come of it */
  constructor(store: DocumentStore, nodes: ReadonlyMap<string, ZarrNode>, options: ReadDocumentOptions) {
    this.#store = store;
    this.#nodes = nodes;
    this.#options = options;
    this.#now = new Map([...nodes.values()].flatMap(({ documents }) => [...documents]));
  }

  /** Looks at documents that are none of the nodes'. */
  async look(keys: Iterable<string>): Promise<void> {
    for (const key of keys) {
      if (!this.#now.has(key))
        this.#now.set(key, (await readDocument(this.#store, key, this.#options))?.bytes);
    }
  }

  /** Those of the documents that are not there, or with other bytes. */
  outdated(documents: Documents): Map<string, Uint8Array> {
    return new Map([...documents].filter(([key, bytes]) => !sameBytes(bytes, this.#now.get(key))));
  }

  /** Before anything else: takes documents away that are not to be there any more. */
  async begin(extra: readonly string[]): Promise<void> {
    if (extra.length > 0) await this.#hideKeys((key) => extra.includes(key));
    for (const key of extra) await this.#delete(key);
  }

  /** Takes the array that has a chunk at a key, if any, out of view; done once for each. */
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

  /** Takes the array at a path out of consolidated metadata; from the seventeenth on all arrays, in one go. */
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

function sameBytes(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return a.length === b?.length && a.every((byte, i) => byte === b[i]);
}
