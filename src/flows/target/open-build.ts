import { openNode } from "../../hierarchy/open/open-node.ts";
import type { ReadDocumentOptions } from "../../hierarchy/stored-documents.ts";
import type { TargetBuild } from "../../stores/store.ts";
import type { LockOptions } from "../../stores/target/prefix-lock.ts";
import { assertTargetPlace, openTargetBuild, type TargetBuildOptions } from "../../stores/target.ts";
import { openStore } from "../../stores/url.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { expectedSize, targetMemory } from "../plan/expected-size.ts";
import type { NodeSpec, Plan } from "../plan/plan.ts";

/**
 * Begins to build the target of a plan; undefined when it is there and may be skipped.
 *
 * @throws `target-exists`, `target-not-empty`, and whatever `openTargetBuild` and `openAppend` throw.
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
    const { openAppend } = await import("./open-append.ts");
    return openAppend(plan, options);
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
 * Holds that `openBuild` can begin, as far as that shows without writing. What is added to a target was held against it
 * when it was planned.
 *
 * @throws `target-exists`, `target-not-empty`, and whatever `assertTargetPlace` throws.
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
  /** Whether nothing is at the target for certain, as was asked before. */
  readonly isEmpty?: () => Promise<boolean>;
}

/** Takes a step at the place of a target; undefined where the target is there and may be skipped. */
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

/** Whether the node that a target names is there. */
async function hasNode({ store: spec, path }: NodeSpec, reading: ReadDocumentOptions): Promise<boolean> {
  const store = await openStore(spec, { signal: reading.signal });
  try {
    return (await openNode(store, path, reading)) !== undefined;
  } finally {
    await store.close?.();
  }
}
