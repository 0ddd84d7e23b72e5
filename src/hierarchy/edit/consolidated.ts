import {
  consolidate,
  sameDocument,
  withoutConsolidatedV3,
  writeConsolidatedV2,
} from "../../meta/consolidated.ts";
import type { Documents } from "../../meta/format.ts";
import { CONSOLIDATED_LOCK_NAME } from "../../stores/reserved-names.ts";
import type { WritableStore } from "../../stores/store.ts";
import { type LockStore, StoreLock } from "../../targets/store-lock.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { joinKey } from "../../util/node-path.ts";
import { pause } from "../../util/pause.ts";
import { consolidatedV2, consolidatedV3 } from "../consolidated.ts";
import { openNode } from "../open/open-node.ts";
import { allDocumentsBelow } from "../open/walk.ts";
import { type ReadDocumentOptions, readDocument } from "../stored-documents.ts";

/** Changes made to documents, by key. */
export interface DocumentChanges {
  /** Path at and below which all previous documents were removed. */
  readonly removed?: string;
  /** Documents written since; undefined for a removed one. */
  readonly written: ReadonlyMap<string, Uint8Array | undefined>;
}

/** The extent of a change that affects consolidated metadata. */
export interface ConsolidatedScope {
  /** Paths of the groups whose consolidated metadata list the nodes. */
  readonly groups: readonly string[];
  /**
   * Paths of the nodes that change. They and all nodes below them are removed from the consolidated metadata before the
   * change.
   */
  readonly nodes: readonly string[];
}

/**
 * Changes nodes and keeps the consolidated metadata of the groups above correct at every moment. The nodes leave the
 * metadata before the first key changes and return once the change is complete. After a failure, the metadata are
 * restored from the current state. A killed run leaves consolidated metadata that lack the nodes, but never any that
 * list missing nodes.
 *
 * `signal` is ignored once the change has begun.
 *
 * @param change receives the consolidated metadata that list the nodes; returns its changes to documents
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
    await consolidated.unlist(nodes);
    changes = await change(consolidated);
  } catch (error) {
    await consolidated.refresh(nodes).catch(() => {});
    throw error;
  }
  try {
    await consolidated.write(changes);
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    const hint = "The change itself was made; `zarrflow validate --fix` updates the consolidated metadata.";
    throw error.addContext({ hint });
  }
}

/** A store of documents, possibly one that only records changes. */
export type DocumentStore = Pick<
  WritableStore,
  "description" | "get" | "size" | "ageOf" | "set" | "setIfAbsent" | "delete"
>;

/**
 * The consolidated metadata of some groups in a store. They are read again before every change, by one run at a time,
 * since other runs may change other members.
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

  /**
   * Finds the groups at `paths` that have consolidated metadata.
   *
   * @throws `invalid-metadata` and similar for broken ones.
   */
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

  /** True if a document contains consolidated metadata and so is written with them. */
  carries(key: string): boolean {
    return this.#all.some((document) => document.isGroups && document.key === key);
  }

  /** Removes the nodes at and below these paths. */
  async unlist(nodes: readonly string[]): Promise<void> {
    await this.hideKeys((key) => nodes.some((path) => isBelow(key, path)));
  }

  /** Removes documents; returns the consolidated documents that were rewritten. */
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

  /** Applies changes of documents. */
  async write(changes: DocumentChanges): Promise<void> {
    // deepest first, since those above include the documents of the others
    for (const document of [...this.#all].reverse()) {
      await this.#rewrite(document, changes.written, async (all) => changed(all, changes));
    }
  }

  /**
   * Updates the entries of the nodes at these paths to the current documents. Returns true if anything was different.
   */
  async refresh(nodes: readonly string[], options: ReadDocumentOptions = {}): Promise<boolean> {
    let areChanged = false;
    if (!this.areAny) return areChanged;
    const reading = { maxMetadata: this.#maxMetadata, ...options };
    for (const path of nodes) {
      const refreshed = async (document: ConsolidatedDocument, all: Documents) => {
        const node = await openNode(this.#store, path, reading);
        const now = node ? await allDocumentsBelow(node, reading) : new Map<string, Uint8Array>();
        const listed = new Map([...all].filter(([key]) => isBelow(key, path)));
        const isListed = ([key]: readonly [string, Uint8Array]) => document.lists(key);
        if (areSame(listed, new Map([...now].filter(isListed)))) return undefined;
        return changed(all, { removed: path, written: now });
      };
      for (const document of [...this.#all].reverse()) {
        const bytes = await this.#rewrite(document, new Map(), (all) => refreshed(document, all), options);
        areChanged ||= bytes !== undefined;
      }
    }
    return areChanged;
  }

  /** Rewrites one document, during its turn, if `change` returns other entries. Returns the new bytes. */
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

/** A document with the consolidated metadata of one group. */
interface ConsolidatedDocument {
  /** Path of the group. */
  readonly path: string;
  readonly key: string;
  /** True if it is the group's own document. */
  readonly isGroups: boolean;
  /** True if it lists documents with this key. */
  lists(key: string): boolean;
  read(options?: ReadDocumentOptions): Promise<Documents | undefined>;
  /** Replaces it in one write and returns its bytes. `written` contains changed documents, possibly the group's own. */
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

/** Milliseconds after which the turn of a killed run has expired. */
const STALE_AFTER = 60_000;
/** Milliseconds to wait for a turn: longer than the expiry, so that a dead run blocks nobody. */
const WAIT_AT_MOST = 2 * STALE_AFTER;
/** Maximum number of milliseconds between two attempts. */
const LOOK_EVERY = 200;

/**
 * Runs a step that reads and rewrites the consolidated metadata of the group at a path, while no other run does, so
 * that two runs that change different members of a hierarchy keep each other's changes. In stores without conditional
 * writes, runs do not take turns.
 *
 * @param step must call `assertHeld` before it writes, which throws if the turn has expired
 * @throws `locked` if others hold the turn for too long.
 */
export async function withConsolidatedTurn<T>(
  store: LockStore,
  path: string,
  step: (assertHeld: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const lock = await takeTurn(store, joinKey(path, CONSOLIDATED_LOCK_NAME));
  try {
    return await step(async () => lock?.assertHeld());
  } finally {
    // a turn that remains expires soon
    await lock?.release().catch(() => {});
  }
}

async function takeTurn(store: LockStore, key: string): Promise<StoreLock | undefined> {
  const begun = performance.now();
  for (;;) {
    try {
      return await StoreLock.take(store, { key, staleAfter: STALE_AFTER });
    } catch (error) {
      if (!isZarrflowError(error, "locked") || performance.now() - begun > WAIT_AT_MOST) throw error;
      await pause(LOOK_EVERY * (0.1 + 0.9 * Math.random()));
    }
  }
}
