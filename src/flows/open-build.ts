import { openNode } from "../hierarchy/open-node.ts";
import { assertReplaceable } from "../hierarchy/replaceable.ts";
import type { StoreOptions, TargetBuild } from "../stores/store.ts";
import { openTargetBuild } from "../stores/target.ts";
import { openStore } from "../stores/url.ts";
import { isZarrflowError } from "../util/errors.ts";
import { openAddition } from "./open-addition.ts";
import { expectedSize } from "./plan/expected-size.ts";
import type { NodeSpec, Plan } from "./plan/plan.ts";

/**
 * Begins to build the target of a plan; undefined when it is there and may be skipped.
 *
 * @throws `target-exists`, `target-not-empty`, and whatever `openTargetBuild` and `openAddition` throw.
 */
export async function openBuild(
  plan: Plan,
  {
    ifExists = "error",
    fsync,
    signal,
  }: StoreOptions & { readonly ifExists?: string; readonly fsync?: boolean },
): Promise<TargetBuild | undefined> {
  const { target } = plan;
  if (plan.publication.existing === "skip") return openAddition(plan, signal);
  if (ifExists === "replace") await assertReplaceable(target);
  try {
    return await openTargetBuild(target.store, {
      ifExists: ifExists === "replace" ? "replace" : "error",
      expectedSize: expectedSize(plan.jobs, plan.budget.maxMemory),
      fsync,
      signal,
    });
  } catch (error) {
    const isThere = ifExists === "skip" && isZarrflowError(error, "target-exists");
    if (isThere && (await hasNode(target, signal))) return undefined;
    throw error;
  }
}

/** Whether the node that a target names is there. */
async function hasNode({ store: spec, path }: NodeSpec, signal: AbortSignal | undefined): Promise<boolean> {
  const store = await openStore(spec, { signal });
  try {
    return (await openNode(store, path, { signal })) !== undefined;
  } finally {
    await store.close?.();
  }
}
