import type { ReadDocumentOptions } from "../../hierarchy/stored-documents.ts";
import { assertListable } from "../../stores/assertions.ts";
import type { Store, StoreOptions } from "../../stores/store.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { FlowEvent } from "../events.ts";
import type { Plan } from "../plan/plan.ts";
import type { Verification } from "../request/flow-options.ts";
import { loadDocuments } from "../run/documents.ts";
import { MemoryLedger, noLedger } from "../run/ledger/ledger.ts";
import { RunLog } from "../run/run-log.ts";
import {
  assertEditable,
  type EditableStore,
  nodesBelow,
  openExistingTarget,
} from "../target/existing-target.ts";
import { otherDocuments, targetKeys } from "../target/target-keys.ts";
import type { UpdateContext } from "./update-keys.ts";

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
    throw new ZarrflowError("target-exists", "the target has changed since the copy was planned", {
      hint: "Start again.",
    });
  }
  return { store: assertEditable(existing.store), nodes: nodesBelow(existing.nodes, target.path) };
}
