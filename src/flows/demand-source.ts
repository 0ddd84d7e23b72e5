import { openFromAbove } from "../hierarchy/open-from-above.ts";
import { openNode } from "../hierarchy/open-node.ts";
import type { Store } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { Plan } from "./plan/plan.ts";
import { readingOf } from "./source-reading.ts";

/**
 * Holds that the array whose chunks were read last is still there: of a source that somebody removed, chunks would seem
 * to be missing, and read as the fill value.
 *
 * @throws `source-changed`
 */
export async function demandSource(
  plan: Plan,
  source: Store,
  signal: AbortSignal | undefined,
): Promise<void> {
  const job = plan.jobs.findLast(({ tasks }) => tasks > 0);
  if (job === undefined) return;
  const reading = { ...readingOf(plan, job), signal };
  const found =
    (await openNode(source, job.path, reading)) ??
    (await openFromAbove(source, plan.source.store, job.path, reading));
  if (found?.kind === "array") return;
  throw new ZarrflowError("source-changed", "the array is gone since its chunks were read", {
    path: job.path,
    hint: "some of them may have been missed: run again when nobody changes the source",
  });
}
