import { carriesConsolidated, hasConsolidated } from "../hierarchy/consolidated.ts";
import type { ZarrGroup, ZarrNode } from "../hierarchy/node.ts";
import { withoutConsolidatedV3 } from "../meta/consolidated.ts";
import type { Documents } from "../meta/dialect.ts";
import { dialectNamed } from "../meta/dialects.ts";
import type { StoreOptions, WritableStore } from "../stores/store.ts";
import { nearest } from "./nearest-node.ts";

/** What is asked of a store of documents. */
export type DocumentStore = Pick<WritableStore, "get" | "set" | "delete">;

/**
 * The documents of a target that is changed at its place. Nodes are taken out of view before what lies below them
 * changes, so that whoever reads it meanwhile, or after a run that was cut, finds no array of old and new chunks.
 */
export class Withdrawal {
  readonly #store: DocumentStore;
  readonly #nodes: ReadonlyMap<string, ZarrNode>;
  readonly #options: StoreOptions;
  /** What documents hold; undefined for those that are not there. */
  readonly #now: Map<string, Uint8Array | undefined>;
  readonly #withdrawn = new Map<ZarrNode, Promise<void>>();
  #isUnconsolidated: Promise<void> | undefined;

  /** @param store the target's; one that keeps as it is what it is told to change shows what would come of it */
  constructor(store: DocumentStore, nodes: ReadonlyMap<string, ZarrNode>, options: StoreOptions) {
    this.#store = store;
    this.#nodes = nodes;
    this.#options = options;
    this.#now = new Map([...nodes.values()].flatMap(({ documents }) => [...documents]));
  }

  /** Looks at documents that are none of the nodes'. */
  async look(keys: Iterable<string>): Promise<void> {
    for (const key of keys) {
      if (!this.#now.has(key)) this.#now.set(key, await this.#store.get(key, this.#options));
    }
  }

  /** Those of the documents that are not there, or with other bytes. */
  outdated(documents: Documents): Map<string, Uint8Array> {
    return new Map([...documents].filter(([key, bytes]) => !sameBytes(bytes, this.#now.get(key))));
  }

  /** Before anything else: takes documents away that are not to be there any more. */
  async begin(extra: readonly string[]): Promise<void> {
    if (extra.length > 0) await this.#unconsolidate();
    for (const key of extra) await this.#delete(key);
  }

  /** Takes the array that has a chunk at a key, if any, out of view; done once for each. */
  async before(key: string): Promise<void> {
    const [first] = this.#nodes.values();
    if (first === undefined) return;
    const node = nearest(dialectNamed(first.layout.dialect).layout("").hierarchy.pathOf(key), this.#nodes);
    if (node?.kind !== "array") return;
    const { layout, shape, metadata } = node;
    if (!layout.parseChunkKey(key, shape.length, metadata.chunkKeyEncoding)) return;
    const done = this.#withdrawn.get(node) ?? this.#withdraw(node);
    this.#withdrawn.set(node, done);
    await done;
  }

  async #withdraw({ layout, documents }: ZarrNode): Promise<void> {
    await this.#unconsolidate();
    for (const key of documents.keys()) if (key !== layout.attributesKey) await this.#delete(key);
  }

  /** Takes consolidated metadata away, which would show nodes that are out of view. */
  #unconsolidate(): Promise<void> {
    const all = async () => {
      for (const node of this.#nodes.values()) {
        if (node.kind === "group") await this.#withoutConsolidated(node);
      }
    };
    this.#isUnconsolidated ??= all();
    return this.#isUnconsolidated;
  }

  async #withoutConsolidated(group: ZarrGroup): Promise<void> {
    const { layout, documents } = group;
    const { consolidatedKey: key } = layout;
    if (key === undefined || !(await hasConsolidated(group, this.#options.signal))) return;
    if (!carriesConsolidated(layout)) return this.#delete(key);
    const plain = withoutConsolidatedV3(documents.get(key) ?? new Uint8Array());
    await this.#store.set(key, plain, this.#options);
    this.#now.set(key, plain);
  }

  async #delete(key: string): Promise<void> {
    await this.#store.delete(key, this.#options);
    this.#now.set(key, undefined);
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return a.length === b?.length && a.every((byte, i) => byte === b[i]);
}
