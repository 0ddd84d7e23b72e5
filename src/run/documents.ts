import { consolidate } from "../meta/consolidated.ts";
import type { Documents, HierarchyKeys } from "../meta/format.ts";
import type { Plan, PlannedDocument } from "../plan/plan.ts";
import { byDepth, isNamedAttributes } from "../stores/key.ts";
import type { Store, WritableStore } from "../stores/store.ts";
import { forEachConcurrent } from "../streams/for-each-concurrent.ts";
import { processSync } from "../util/blocking-io.ts";
import { ZarrflowError } from "../util/errors.ts";
import { ancestorPaths } from "../util/node-path.ts";

export interface LoadDocumentsOptions {
  readonly source: Store;
  /** Documents of the source that were read before; the caller checks that they have not changed. */
  readonly cachedDocument?: ((key: string) => Uint8Array | undefined) | undefined;
  /** Documents of existing nodes. */
  readonly others?: Documents;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the documents to publish in order, consolidated metadata last. Consolidated metadata lists `others` too.
 *
 * @throws `source-changed` if a document was removed after the plan was made.
 */
export async function loadDocuments(
  { publication, execution }: Plan,
  { source, cachedDocument = () => undefined, others = new Map(), signal }: LoadDocumentsOptions,
): Promise<Map<string, Uint8Array>> {
  const encoder = new TextEncoder();
  // Setting the keys first keeps the order of the plan, whatever order the values arrive in.
  const documents = new Map<string, Uint8Array>(
    publication.documents.map(({ key }) => [key, new Uint8Array(0)]),
  );
  const isLeft = (document: PlannedDocument) => {
    const bytes = "text" in document ? encoder.encode(document.text) : cachedDocument(document.from);
    if (bytes) documents.set(document.key, bytes);
    return bytes === undefined;
  };
  const load = async (document: PlannedDocument, context: { readonly signal: AbortSignal }) => {
    const bytes = "from" in document ? await source.get(document.from, context) : undefined;
    if (bytes === undefined) {
      throw new ZarrflowError("source-changed", "a metadata document was removed after planning", {
        key: "from" in document ? document.from : document.key,
      });
    }
    documents.set(document.key, bytes);
  };
  await forEachConcurrent(publication.documents.filter(isLeft), load, {
    concurrency: execution.concurrency,
    signal,
  });
  return publication.consolidate.reduce(
    (published, group) => consolidate(publication.zarrFormat, group, published),
    new Map([...others, ...documents]),
  );
}

/** Separates attribute documents, which do not make a node visible and so can be written first, from all others. */
export function attributesApart(documents: Documents): {
  readonly attributes: Documents;
  readonly nodes: Documents;
} {
  const isOf = (areAttributes: boolean) =>
    [...documents].filter(([key]) => isNamedAttributes(key) === areAttributes);
  return { attributes: new Map(isOf(true)), nodes: new Map(isOf(false)) };
}

export interface PublishDocumentsOptions {
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  readonly hierarchy: HierarchyKeys;
  readonly onWritten: (key: string, bytes: Uint8Array) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes documents: attributes first, then every other document after the ones listed before it that belong to the same
 * node, to nodes below it or to nodes above it. Documents of unrelated nodes are written concurrently. A zip gets one
 * document at a time, the ones of the root first.
 */
export async function publishDocuments(
  documents: Documents,
  store: WritableStore,
  { concurrency, hierarchy, onWritten, signal }: PublishDocumentsOptions,
): Promise<void> {
  const write = async (key: string, context: { readonly signal: AbortSignal }) => {
    const bytes = documents.get(key) ?? new Uint8Array(0);
    await store.set(key, bytes, context);
    onWritten(key, bytes);
  };
  const writeSync = (key: string) => {
    const bytes = documents.get(key) ?? new Uint8Array(0);
    if (bytes.length > MAX_SYNC_BYTES || !store.setSync?.(key, bytes)) return undefined;
    onWritten(key, bytes);
    return bytes.length;
  };
  const keys = [...documents.keys()];
  // A zip is not read before it is complete; readers of a remote zip find the root at its beginning.
  const waves = store.singleWriter ? [keys.sort(byDepth)] : inWaves(keys, hierarchy);
  for (const wave of waves) {
    const left = processSync([wave], writeSync, signal);
    await forEachConcurrent(left, write, { concurrency: store.singleWriter ? 1 : concurrency, signal });
  }
}

/** Larger documents are written asynchronously: they would block the thread for too long. */
const MAX_SYNC_BYTES = 2 ** 20;

/** Groups keys of documents into waves. A wave can be written once the one before it is complete. */
function inWaves(keys: readonly string[], { nodeOf }: HierarchyKeys): string[][] {
  const waves: string[][] = [];
  /** By node: the first wave after its documents so far. */
  const afterNode = new Map<string, number>();
  /** By node: the first wave after its documents and those of the nodes below it so far. */
  const afterTree = new Map<string, number>();
  for (const key of keys) {
    const path = nodeOf(key) ?? "";
    const above = ancestorPaths(path);
    const mayBeFirst = isNamedAttributes(key);
    const wave = mayBeFirst
      ? 0
      : Math.max(afterTree.get(path) ?? 0, ...above.map((group) => afterNode.get(group) ?? 0));
    const sameWave = waves[wave] ?? [];
    sameWave.push(key);
    waves[wave] = sameWave;
    afterNode.set(path, wave + 1);
    for (const at of [path, ...above]) afterTree.set(at, Math.max(afterTree.get(at) ?? 0, wave + 1));
  }
  return waves;
}
