import {
  consolidate,
  sameDocument,
  withoutConsolidatedV3,
  writeConsolidatedV2,
} from "../../meta/consolidated.ts";
import type { Documents } from "../../meta/format.ts";
import { joinKey } from "../../meta/join-key.ts";
import type { WritableStore } from "../../stores/store.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { consolidatedV2, consolidatedV3 } from "../consolidated.ts";
import { withConsolidatedTurn } from "../consolidated-turn.ts";
import { allDocumentsBelow } from "../keys-below.ts";
import { openNode } from "../open/open-node.ts";
import { type ReadDocumentOptions, readDocument } from "../stored-documents.ts";

/** What was done to documents, by their keys. */
export interface DocumentChanges {
  /** Path at and below which all documents of before are gone. */
  readonly removed?: string;
  /** Documents that were written since; undefined for one that was removed. */
  readonly written: ReadonlyMap<string, Uint8Array | undefined>;
}

/** What changes while consolidated metadata are kept true. */
export interface ConsolidatedScope {
  /** Paths of the groups whose consolidated metadata list it. */
  readonly groups: readonly string[];
  /** Paths of the nodes that change; they leave the consolidated metadata with all below before anything changes. */
  readonly nodes: readonly string[];
}

/**
 * Changes nodes, and keeps the consolidated metadata of the groups above true at every moment: the nodes leave them
 * before the first key changes, and come back when all is done. A change that fails is followed by what is there then;
 * a run that is killed leaves consolidated metadata that lack the nodes, never ones that list what is not there.
 *
 * Once the change has begun `signal` is not looked at.
 *
 * @param change receives what lists the node, and returns what it did to documents
 */
export async function refreshConsolidated(
  store: WritableStore,
  { groups, nodes }: ConsolidatedScope,
  change: (consolidated: ConsolidatedMetadata) => Promise<DocumentChanges>,
  { maxMetadata, signal }: ReadDocumentOptions = {},
): Promise<void> {
  const consolidated = await ConsolidatedMetadata.find(store, groups, { maxMetadata, signal });
  throwIfAborted(signal);
  let changes: DocumentChanges;
  try {
    await consolidated.hide(nodes);
    changes = await change(consolidated);
  } catch (error) {
    await consolidated.restate(nodes).catch(() => {});
    throw error;
  }
  try {
    await consolidated.write(changes);
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    const hint = "The change itself is done; `zarrflow validate --fix` writes the consolidated metadata.";
    throw error.addContext({ hint });
  }
}

/** A store of documents, which can be one that only records changes. */
export type DocumentStore = Pick<
  WritableStore,
  "description" | "get" | "size" | "ageOf" | "set" | "setIfAbsent" | "delete"
>;

/**
 * The consolidated metadata of some groups of a store. They are read afresh whenever they change, by one run at a time,
 * as others may change other members.
 */
export class ConsolidatedMetadata {
  readonly #store: DocumentStore;
  readonly #all: readonly ConsolidatedDocument[];
  readonly #maxMetadata: number | undefined;

  private constructor(
    store: DocumentStore,
    all: readonly ConsolidatedDocument[],
    maxMetadata: number | undefined,
  ) {
    this.#store = store;
    this.#maxMetadata = maxMetadata;
    this.#all = all;
  }

  /** Those of the groups at `paths` that have any. @throws `invalid-metadata` and the like for those that are broken. */
  static async find(
    store: DocumentStore,
    paths: readonly string[],
    options: ReadDocumentOptions = {},
  ): Promise<ConsolidatedMetadata> {
    const kinds = paths.flatMap((path) => [inV2(store, path), inV3(store, path)]);
    const found = await Promise.all(kinds.map(async (kind) => (await kind.read(options)) !== undefined));
    return new ConsolidatedMetadata(
      store,
      kinds.filter((_, i) => found[i]),
      options.maxMetadata,
    );
  }

  get areAny(): boolean {
    return this.#all.length > 0;
  }

  /** Whether a document holds consolidated metadata, and so is written with them. */
  carries(key: string): boolean {
    return this.#all.some((document) => document.isGroups && document.key === key);
  }

  /** Takes the nodes at these paths out, with all below. */
  async hide(nodes: readonly string[]): Promise<void> {
    await this.hideKeys((key) => nodes.some((path) => isBelow(key, path)));
  }

  /** Takes documents out; returns what was written for it. */
  async hideKeys(isHidden: (key: string) => boolean): Promise<Documents> {
    const written = new Map<string, Uint8Array>();
    for (const document of this.#all) {
      const bytes = await this.#rewrite(document, new Map(), async (all) => {
        const left = [...all].filter(([key]) => !isHidden(key));
        return left.length < all.size ? new Map(left) : undefined;
      });
      if (bytes) written.set(document.key, bytes);
    }
    return written;
  }

  /** Writes them with what was done to documents. */
  async write(changes: DocumentChanges): Promise<void> {
    // the deepest first, as those above hold the documents of the others
    for (const document of [...this.#all].reverse()) {
      await this.#rewrite(document, changes.written, async (all) => changed(all, changes));
    }
  }

  /** Makes them say of the nodes at these paths what their documents say now; whether they said something else. */
  async restate(nodes: readonly string[], options: ReadDocumentOptions = {}): Promise<boolean> {
    let areMended = false;
    if (!this.areAny) return areMended;
    const reading = { maxMetadata: this.#maxMetadata, ...options };
    for (const path of nodes) {
      const restated = async (document: ConsolidatedDocument, all: Documents) => {
        const node = await openNode(this.#store, path, reading);
        const now = node ? await allDocumentsBelow(node, reading) : new Map<string, Uint8Array>();
        const listed = new Map([...all].filter(([key]) => isBelow(key, path)));
        const isListed = ([key]: readonly [string, Uint8Array]) => document.lists(key);
        if (areSame(listed, new Map([...now].filter(isListed)))) return undefined;
        return changed(all, { removed: path, written: now });
      };
      for (const document of [...this.#all].reverse()) {
        const bytes = await this.#rewrite(document, new Map(), (all) => restated(document, all), options);
        areMended ||= bytes !== undefined;
      }
    }
    return areMended;
  }

  /** Writes one anew where `change` gives other documents for those it holds, alone; returns its bytes. */
  async #rewrite(
    document: ConsolidatedDocument,
    written: DocumentChanges["written"],
    change: (all: Documents) => Promise<Documents | undefined>,
    options: ReadDocumentOptions = {},
  ): Promise<Uint8Array | undefined> {
    const reading = { maxMetadata: this.#maxMetadata, ...options };
    const next = async () => {
      const all = await document.read(reading);
      return all && (await change(all));
    };
    if ((await next()) === undefined) return undefined;
    return withConsolidatedTurn(this.#store, document.path, async (assertHeld) => {
      const documents = await next();
      await assertHeld();
      return documents && document.write(documents, written, reading);
    });
  }
}

/** A document that holds the consolidated metadata of one group. */
interface ConsolidatedDocument {
  /** Of the group. */
  readonly path: string;
  readonly key: string;
  /** Whether it is the group's own document, too. */
  readonly isGroups: boolean;
  /** Whether it holds the document of this key. */
  lists(key: string): boolean;
  read(options?: ReadDocumentOptions): Promise<Documents | undefined>;
  /** Replaces it at once; returns its bytes. `written` are documents that changed, the group's own perhaps among them. */
  write(
    documents: Documents,
    written: DocumentChanges["written"],
    options: ReadDocumentOptions,
  ): Promise<Uint8Array | undefined>;
}

function inV2(store: DocumentStore, path: string): ConsolidatedDocument {
  const key = joinKey(path, ".zmetadata");
  return {
    path,
    key,
    isGroups: false,
    lists: (key) => isBelow(key, path) && /(?:^|\/)\.z(?:array|group|attrs)$/.test(key),
    read: (options = {}) => consolidatedV2(store, path, options),
    async write(documents) {
      const bytes = writeConsolidatedV2(documents, path);
      await store.set(key, bytes);
      return bytes;
    },
  };
}

function inV3(store: DocumentStore, path: string): ConsolidatedDocument {
  const key = joinKey(path, "zarr.json");
  return {
    path,
    key,
    isGroups: true,
    lists: (other) => other !== key && isBelow(other, path) && other.endsWith("/zarr.json"),
    async read(options = {}) {
      const bytes = (await readDocument(store, key, options))?.bytes;
      return bytes && consolidatedV3(bytes, path, options);
    },
    async write(documents, written, { maxMetadata }) {
      const own = written.get(key) ?? (await readDocument(store, key, { maxMetadata }))?.bytes;
      if (own === undefined) return undefined;
      const all = consolidate("v3", path, new Map([...documents, [key, withoutConsolidatedV3(own)]]));
      const bytes = all.get(key) ?? own;
      await store.set(key, bytes);
      return bytes;
    },
  };
}

function changed(documents: Documents, { removed, written }: DocumentChanges): Documents {
  const kept = [...documents].filter(([key]) => removed === undefined || !isBelow(key, removed));
  const result = new Map<string, Uint8Array>(kept);
  for (const [key, bytes] of written) {
    if (bytes) result.set(key, bytes);
    else result.delete(key);
  }
  return result;
}

function isBelow(key: string, path: string): boolean {
  return key.startsWith(joinKey(path, ""));
}

function areSame(a: Documents, b: Documents): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([key, bytes]) => {
    const other = b.get(key);
    return other !== undefined && sameDocument(bytes, other);
  });
}
