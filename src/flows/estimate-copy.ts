import { formatNamed } from "../meta/formats.ts";
import { outerPrefixes } from "../meta/node-layout.ts";
import type { Plan } from "../plan/plan.ts";
import { loadDocuments } from "../run/documents.ts";
import { EVENT_OPTIONS, type EventOptions, withRetryEvents } from "../run/events.ts";
import { folderCheck, keysToCopy, listWanted } from "../run/keys/keys-to-copy.ts";
import { assertListable } from "../stores/assertions.ts";
import type { KeyEntry, Store } from "../stores/store.ts";
import { forEachConcurrent } from "../streams/for-each-concurrent.ts";
import { checkedOptions, type OptionNames } from "../util/options.ts";
import type { PlannedFlow } from "./request/flow.ts";
import { estimateUpdate } from "./update/open-update.ts";

/** Keys and bytes that a run will copy unchanged, including documents but not chunks that tasks make. */
export interface CopyEstimate {
  readonly keys: number;
  readonly bytes: number;
  /** For an update: keys that are up to date, and keys that will be deleted. */
  readonly keysKept?: number;
  readonly keysDeleted?: number;
}

export interface EstimateOptions extends EventOptions {
  readonly signal?: AbortSignal | undefined;
}

const ESTIMATE_OPTIONS: OptionNames<EstimateOptions> = { ...EVENT_OPTIONS, signal: true };

/**
 * Counts what a run will copy unchanged, by listing the source. An update is also compared with its target, which may
 * require reading both. Writes nothing.
 *
 * @throws whatever the stores throw.
 */
export async function estimateCopy(
  planned: PlannedFlow,
  options: EstimateOptions = {},
): Promise<CopyEstimate> {
  const { signal, onEvent } = checkedOptions(options, ESTIMATE_OPTIONS);
  const { plan, source } = planned;
  return withRetryEvents({ onEvent }, () => estimate(plan, source, signal));
}

async function estimate(plan: Plan, source: Store, signal: AbortSignal | undefined): Promise<CopyEstimate> {
  const { publication } = plan;
  if (publication.existing === "update") return estimateUpdate(plan, source, signal);
  const documents = await loadDocuments(plan, { source, signal });
  let keys = documents.size;
  let bytes = [...documents.values()].reduce((sum, { length }) => sum + length, 0);
  if (!publication.copyKeys) return { keys, bytes };
  const store = assertListable(source);
  const targetKeyOf = keysToCopy(plan, documents);
  const onFolder = folderCheck(plan);
  const count = async ({ key, size }: KeyEntry, context: { readonly signal: AbortSignal }) => {
    if (targetKeyOf(key) === undefined) return;
    const length = size ?? (await store.size(key, context)) ?? 0;
    bytes += length;
    keys++;
  };
  for (const prefix of outerPrefixes(formatNamed(publication.from).layout(plan.source.path))) {
    await forEachConcurrent(listWanted(store, prefix, targetKeyOf, { signal, onFolder }), count, {
      concurrency: plan.execution.concurrency,
      signal,
    });
  }
  return { keys, bytes };
}
