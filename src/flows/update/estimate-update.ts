import type { DocumentStore } from "../../hierarchy/edit/consolidated.ts";
import type { KeyEntry, Store } from "../../stores/store.ts";
import type { Plan } from "../plan/plan.ts";
import { Unpublisher } from "../run/unpublish.ts";
import type { Pair } from "./merge-listings.ts";
import { openUpdate } from "./open-update.ts";
import { differences, extraDocuments } from "./update-keys.ts";

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
