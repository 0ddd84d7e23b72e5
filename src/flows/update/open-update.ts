import type { DocumentStore } from "../../hierarchy/edit/consolidated.ts";
import type { ReadDocumentOptions } from "../../hierarchy/stored-documents.ts";
import type { Plan } from "../../plan/plan.ts";
import { loadDocuments } from "../../run/documents.ts";
import type { FlowEvent } from "../../run/events.ts";
import { MemoryLedger, noLedger } from "../../run/ledger.ts";
import { RunLog } from "../../run/run-log.ts";
import type { Verification } from "../../run/run-options.ts";
import { Unpublisher } from "../../run/unpublish.ts";
import { assertListable } from "../../stores/assertions.ts";
import type { KeyEntry, Store, StoreOptions } from "../../stores/store.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { assertEditable, type EditableStore, nodesBelow, openExistingTarget } from "../target/flow-target.ts";
import type { Pair } from "./differing-keys.ts";
import { otherDocuments, targetKeys } from "./target-keys.ts";
import { differences, extraDocuments, type UpdateContext } from "./update-keys.ts";

export interface OpenUpdateOptions {
  readonly source: Store;
  /** Checks, after everything was read, that the source is still as planned. @throws `source-changed` */
  readonly assertUnchanged?: ((options: StoreOptions) => Promise<void>) | undefined;
  /** Reads back every written key before the documents that make it visible are written. */
  readonly verify?: Verification;
  readonly onEvent?: ((event: FlowEvent) => void) | undefined;
  /** Wraps the target's store. */
  readonly wrap?: ((store: EditableStore) => EditableStore) | undefined;
  /** Size limit of a document, in bytes. */
  readonly maxMetadata?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the target, and prepares what an update needs. @throws `target-exists` if the target is gone since the plan was
 * made.
 */
export async function openUpdate(
  plan: Plan,
  {
    source,
    assertUnchanged,
    verify = false,
    wrap = (store) => store,
    onEvent,
    maxMetadata,
    signal,
  }: OpenUpdateOptions,
): Promise<UpdateContext> {
  const { store, nodes } = await openTarget(plan, { maxMetadata, signal });
  const documents = await loadDocuments(plan, {
    source,
    others: otherDocuments(targetKeys(plan, nodes), nodes),
    signal,
  });
  const buffers = new BufferPool(plan.budget.maxMemory);
  return {
    plan,
    source: assertListable(source),
    assertUnchanged,
    target: wrap(store),
    nodes,
    documents,
    verify,
    budget: new ByteBudget(plan.budget.maxMemory),
    buffers,
    log: new RunLog(plan, verify !== false ? new MemoryLedger() : noLedger, () => buffers.taken, onEvent),
    maxMetadata,
    signal,
  };
}

/** The target's store, and its nodes at and below its path. */
async function openTarget({ target, publication }: Plan, options: ReadDocumentOptions) {
  const existing = await openExistingTarget(target, publication.zarrFormat, options);
  if (existing === undefined) {
    throw new ZarrflowError("target-exists", "the target changed after the copy was planned", {
      hint: "Run it again.",
    });
  }
  return { store: assertEditable(existing.store), nodes: nodesBelow(existing.nodes, target.path) };
}

/** Keys that would be written and deleted, and keys that are up to date. */
export interface UpdateEstimate {
  readonly keys: number;
  readonly bytes: number;
  readonly keysKept: number;
  readonly keysDeleted: number;
}

/** Compares source and target without changing anything. @throws as `runUpdate` */
export async function estimateUpdate(
  plan: Plan,
  source: Store,
  signal: AbortSignal | undefined,
): Promise<UpdateEstimate> {
  const maxMetadata = plan.source.reading?.maxMetadata;
  const context = await openUpdate(plan, { source, maxMetadata, signal });
  const { target, nodes, documents, log } = context;
  const changed = new Set<string>();
  const change = async (key: string) => {
    changed.add(key);
  };
  const pretended: DocumentStore = {
    description: target.description,
    get: target.get.bind(target),
    size: target.size.bind(target),
    set: change,
    delete: change,
  };
  const changes = new Unpublisher(pretended, nodes, { maxMetadata, signal });
  await changes.look(documents.keys());
  const extra = extraDocuments(context);
  await changes.begin(extra);
  let [keys, bytes, keysDeleted] = [0, 0, extra.length];
  const add = (size: number) => {
    keys++;
    bytes += size;
  };
  const sizeOf = async ({ key, size }: KeyEntry) => size ?? (await source.size(key, { signal })) ?? 0;
  const changedWithOthers: KeyEntry[] = [];
  const onSame = ({ key, left }: Pair) => {
    if (left && changed.has(key)) changedWithOthers.push(left);
    else log.keysKept(1);
  };
  for (const which of ["values", "documents"] as const) {
    for await (const { key, left } of differences(context, which, onSame)) {
      if (which === "values") await changes.before(key);
      if (left) add(await sizeOf(left));
      else keysDeleted++;
    }
  }
  for (const listed of changedWithOthers) add(await sizeOf(listed));
  const outdated = changes.outdated(documents);
  for (const { length } of outdated.values()) add(length);
  return {
    keys,
    bytes,
    keysDeleted,
    keysKept: log.existing.keysKept + documents.size - outdated.size,
  };
}
