import { openNode } from "../../hierarchy/open/open-node.ts";
import type { ReadDocumentOptions } from "../../hierarchy/stored-documents.ts";
import { expectedSize, targetMemory } from "../../plan/memory.ts";
import type { NodeSpec, Plan } from "../../plan/plan.ts";
import type { LockOptions, TargetBuild } from "../../stores/store.ts";
import { openStore } from "../../stores/url.ts";
import { assertTargetPlace, openTargetBuild, type TargetBuildOptions } from "../../targets/index.ts";
import { isZarrflowError } from "../../util/errors.ts";

/**
 * Opens the build of a plan's target; undefined if the target exists and `ifExists` is `skip`.
 *
 * @throws `target-exists`, `target-not-empty`, and as `openTargetBuild` and `openExistingBuild`.
 */
export async function openBuild(plan: Plan, options: OpenBuildOptions): Promise<TargetBuild | undefined> {
  const {
    comment,
    fsync,
    isEmpty,
    onTaken,
    beforeReplacing,
    resume,
    onUnfinished,
    joint,
    breakLock,
    signal,
  } = options;
  if (plan.publication.existing === "skip") {
    const { openExistingBuild } = await import("./open-existing.ts");
    return openExistingBuild(plan, options);
  }
  const { maxMemory } = plan.budget;
  return atPlace(plan.target, options, async (ifExists) =>
    openTargetBuild(plan.target.store, {
      ifExists,
      wasEmpty: await isEmpty?.(),
      onTaken,
      beforeReplacing,
      resume,
      onUnfinished,
      joint,
      expectedSize: expectedSize(plan.jobs, maxMemory),
      memory: targetMemory(plan.target, plan.jobs, maxMemory),
      comment,
      fsync,
      breakLock,
      signal,
    }),
  );
}

/**
 * Checks that `openBuild` can start, without writing anything. Nodes added to an existing target were checked when
 * they were planned.
 *
 * @throws `target-exists`, `target-not-empty`, and as `assertTargetPlace`.
 */
export async function assertBuild(
  plan: Plan,
  { resume: mayResume, ...options }: BuildOptions & { readonly resume?: boolean | undefined },
): Promise<void> {
  if (plan.publication.existing !== undefined) return;
  const { breakLock, signal } = options;
  await atPlace(plan.target, options, (ifExists) =>
    assertTargetPlace(plan.target.store, { ifExists, mayResume, breakLock, signal }),
  );
}

interface BuildOptions extends LockOptions, ReadDocumentOptions {
  readonly ifExists?: string;
}

export interface OpenBuildOptions
  extends BuildOptions,
    Pick<
      TargetBuildOptions,
      "comment" | "fsync" | "onTaken" | "beforeReplacing" | "resume" | "onUnfinished" | "joint"
    > {
  /** True if an earlier check found that nothing is at the target. */
  readonly isEmpty?: () => Promise<boolean>;
}

/** Runs a step that needs the target's place; undefined if the target exists and `ifExists` is `skip`. */
async function atPlace<T>(
  target: NodeSpec,
  { ifExists, maxMetadata, signal }: BuildOptions,
  step: (ifExists: "error" | "replace") => Promise<T>,
): Promise<T | undefined> {
  if (ifExists === "replace") {
    const { assertReplaceable } = await import("../../hierarchy/replaceable.ts");
    await assertReplaceable(target, { maxMetadata, signal });
  }
  try {
    return await step(ifExists === "replace" ? "replace" : "error");
  } catch (error) {
    const isThere = ifExists === "skip" && isZarrflowError(error, "target-exists");
    if (isThere && (await hasNode(target, { maxMetadata, signal }))) return undefined;
    throw error;
  }
}

async function hasNode({ store: spec, path }: NodeSpec, reading: ReadDocumentOptions): Promise<boolean> {
  const store = await openStore(spec, { signal: reading.signal });
  try {
    return (await openNode(store, path, reading)) !== undefined;
  } finally {
    await store.close?.();
  }
}
