import type { Listed, Store } from "../stores/store.ts";
import type { Pair } from "./merge-listings.ts";
import { openUpdate } from "./open-update.ts";
import type { Plan } from "./plan/plan.ts";
import { differences, extraDocuments } from "./update-keys.ts";
import { type DocumentStore, Withdrawal } from "./withdrawal.ts";

/** What would be written and deleted, and what is right already. */
export interface UpdateEstimate {
  readonly keys: number;
  readonly bytes: number;
  readonly keysKept: number;
  readonly keysDeleted: number;
}

/** Compares source and target, and changes nothing. @throws as `runUpdate` */
export async function estimateUpdate(
  plan: Plan,
  source: Store,
  signal: AbortSignal | undefined,
): Promise<UpdateEstimate> {
  const context = await openUpdate(plan, { source, signal });
  const { target, nodes, documents, log } = context;
  const gone = new Set<string>();
  const pretended: DocumentStore = {
    get: target.get.bind(target),
    async set() {},
    async delete(key) {
      gone.add(key);
    },
  };
  const changes = new Withdrawal(pretended, nodes, { signal });
  await changes.look(documents.keys());
  const extra = extraDocuments(context);
  await changes.begin(extra);
  let [keys, bytes, keysDeleted] = [0, 0, extra.length];
  const add = (size: number) => {
    keys++;
    bytes += size;
  };
  const sizeOf = async ({ key, size }: Listed) => size ?? (await source.size(key, { signal })) ?? 0;
  const goneWithOthers: Listed[] = [];
  const onSame = ({ key, left }: Pair) => {
    if (left && gone.has(key)) goneWithOthers.push(left);
    else log.keysKept(1);
  };
  for (const which of ["values", "documents"] as const) {
    for await (const { key, left } of differences(context, which, onSame)) {
      if (which === "values") await changes.before(key);
      if (left) add(await sizeOf(left));
      else keysDeleted++;
    }
  }
  for (const listed of goneWithOthers) add(await sizeOf(listed));
  const outdated = changes.outdated(documents);
  for (const { length } of outdated.values()) add(length);
  return {
    keys,
    bytes,
    keysDeleted,
    keysKept: log.existing.keysKept + documents.size - outdated.size,
  };
}
