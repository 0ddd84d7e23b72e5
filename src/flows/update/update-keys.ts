import { isDocumentKey } from "../../hierarchy/edit/delete.ts";
import type { ZarrNode } from "../../hierarchy/node.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { ArrayJob, Plan } from "../../plan/plan.ts";
import { copyKeys, keysToCopyFrom } from "../../run/keys/copy-keys.ts";
import { folderCheck, keysToCopy } from "../../run/keys/keys-to-copy.ts";
import type { RunLog } from "../../run/run-log.ts";
import type { Verification } from "../../run/run-options.ts";
import type { KeyEntry, ListableStore, StoreOptions, WritableStore } from "../../stores/store.ts";
import { writerMemory } from "../../stores/store-traits.ts";
import type { BufferPool } from "../../streams/buffer-pool.ts";
import type { ByteBudget } from "../../streams/byte-budget.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { mapConcurrent } from "../../streams/map-concurrent.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { ReadableStream } from "../../util/web-streams.ts";
import { type ComparedSide, differingKeys, mergedSides, type Pair } from "./differing-keys.ts";
import { targetKeys } from "./target-keys.ts";

/** Everything that an update works with. */
export interface UpdateContext {
  readonly plan: Plan;
  readonly source: ListableStore;
  /** Checks, after everything was read, that the source is still as planned. @throws `source-changed` */
  readonly assertUnchanged: ((options: StoreOptions) => Promise<void>) | undefined;
  readonly target: WritableStore & ListableStore;
  /** Nodes of the target, by path. */
  readonly nodes: ReadonlyMap<string, ZarrNode>;
  /** Documents that the target will have; published separately from other keys. */
  readonly documents: Documents;
  /** If set, values will be read back, so their checksums must be known. */
  readonly verify: Verification;
  readonly budget: ByteBudget;
  readonly buffers: BufferPool;
  readonly log: RunLog;
  readonly maxMetadata: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Keys of documents at the target that it should not have. */
export function extraDocuments({ nodes, documents }: UpdateContext): string[] {
  return [...documentKeys(nodes)].filter((key) => !documents.has(key));
}

/** Keys to look at: `documents` of other hierarchies and consolidated metadata, or `values`, everything else. */
type Which = "documents" | "values";

/**
 * Yields keys that differ between source and target, except documents of the hierarchy.
 *
 * @param onSame called with each key that does not differ
 * @param onChunk called with the job of each chunk of the source, different or not
 */
export function differences(
  context: UpdateContext,
  which: Which,
  onSame: (pair: Pair) => void,
  onChunk?: (job: ArrayJob) => void,
): ReadableStream<Pair> {
  const { plan, budget, buffers, signal } = context;
  const options = { budget, buffers, signal, concurrency: plan.execution.concurrency, onSame };
  return differingKeys(...comparedSides(context, which, onChunk), options);
}

function comparedSides(
  { plan, source, target, nodes, documents }: UpdateContext,
  which: Which,
  onChunk?: (job: ArrayJob) => void,
): [source: ComparedSide, target: ComparedSide] {
  const { from, zarrFormat } = plan.publication;
  const layout = formatNamed(zarrFormat).layout(plan.target.path);
  const isAsked = (key: string) => isDocumentKey(key, layout) === (which === "documents");
  const targetKeyOf = keysToCopy(plan, documents, { onChunk });
  const ofSource = (key: string) => {
    const same = targetKeyOf(key);
    return same !== undefined && isAsked(same) ? same : undefined;
  };
  const { isMeant } = targetKeys(plan, nodes);
  const ofNodes = new Set([...documents.keys(), ...documentKeys(nodes)]);
  const ofTarget = (key: string) => (isAsked(key) && !ofNodes.has(key) && isMeant(key) ? key : undefined);
  return [
    {
      store: source,
      layout: formatNamed(from).layout(plan.source.path),
      keyOf: ofSource,
      onFolder: folderCheck(plan),
    },
    { store: target, layout, keyOf: ofTarget },
  ];
}

/** Keys of the documents that nodes have. */
function* documentKeys(nodes: ReadonlyMap<string, ZarrNode>): Generator<string> {
  for (const { documents } of nodes.values()) yield* documents.keys();
}

/** Called with each key of the target before it changes. */
type BeforeChange = (key: string) => Promise<void>;

/**
 * Deletes keys that the source does not have. This precedes all copies, because a file may take the place of a folder,
 * or a folder that of a file.
 *
 * @throws `target-not-empty` if the target is not Zarr and something would be lost.
 */
export async function deleteExtra(context: UpdateContext, which: Which, before: BeforeChange): Promise<void> {
  const { plan, target, log, signal } = context;
  const check = changeable(context);
  const remove = async (pair: Pair, call: { readonly signal: AbortSignal }) => {
    if (pair.left) return;
    check(pair);
    await before(pair.key);
    await target.delete(pair.key, call);
    log.keyDeleted();
  };
  const pairs = mergedSides(...comparedSides(context, which), signal);
  await forEachConcurrent(pairs, remove, { concurrency: plan.execution.concurrency, signal });
}

/**
 * Copies keys that differ; ignores keys that the source does not have.
 *
 * @throws `target-not-empty` if the target is not Zarr and something would be lost.
 */
export async function copyDifferences(
  pairs: ReadableStream<Pair>,
  context: UpdateContext,
  before: BeforeChange,
): Promise<void> {
  const { plan, source, target, documents, verify, budget, buffers, log, signal } = context;
  const { concurrency } = plan.execution;
  const check = changeable(context);
  const apply = async (pair: Pair) => {
    if (!pair.left) return undefined;
    check(pair);
    await before(pair.key);
    return pair.left;
  };
  const listing = copied(pairs.pipeThrough(mapConcurrent(apply, { concurrency, signal })));
  await copyKeys({
    source,
    target,
    listed: keysToCopyFrom(listing, keysToCopy(plan, documents)),
    skipChecksum: verify === false,
    budget,
    buffers,
    concurrency,
    writerBytes: writerMemory(plan.target.store),
    log,
    signal,
  });
}

/** Returns a check that a key may change. @throws (the check) `target-not-empty` */
function changeable({ plan, target, nodes }: UpdateContext): (pair: Pair) => void {
  const { isChunk } = targetKeys(plan, nodes);
  return ({ key, right }) => {
    if (nodes.size > 0 || !right || isChunk(key)) return;
    throw new ZarrflowError(
      "target-not-empty",
      "the target contains something other than Zarr, which an update must not change",
      {
        store: target.description,
        key,
        hint: "Choose another target, or delete it yourself.",
      },
    );
  };
}

async function* copied(applied: ReadableStream<KeyEntry | undefined>): AsyncGenerator<[KeyEntry]> {
  for await (const listed of applied) if (listed) yield [listed];
}
