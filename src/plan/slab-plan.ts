import type { GridStrategy } from "../hierarchy/read-options.ts";
import { product } from "../util/shape.ts";
import { directSlabPlan } from "./direct-slabs.ts";
import type { SlabCandidate, SlabPlan, SlabRequest } from "./slabs.ts";
import { chooseStrategy, type Rival, strategies } from "./strategies.ts";
import { countTouched } from "./windows.ts";

/**
 * Direct slabs are accepted without comparison if they decode at most this multiple of the chunks that they touch.
 */
const GOOD_ENOUGH = 1.2;

/**
 * Plans slabs with the strategy of the lowest predicted time.
 *
 * @param request.strategy the only strategy to consider
 * @throws `budget-too-small` with the smallest budget that works; `resource-limit`.
 */
export function planSlabs(request: SlabRequest & { readonly strategy?: GridStrategy | undefined }): SlabPlan {
  const { selection, array, strategy } = request;
  const straight = directSlabPlan(request, "direct");
  if (product(selection.shape) === 0) return straight.plan;
  const touched = countTouched(selection, array.metadata.chunkGrid.chunkShape);
  const rivals = strategies.flatMap(({ name, slabs }): Rival<SlabCandidate>[] =>
    slabs ? [{ name, candidates: () => slabs(request, straight) }] : [],
  );
  const choice = chooseStrategy(rivals, {
    asked: strategy,
    whyEnough: ({ plan: { job, chunksRead } }) =>
      job.passes === undefined && chunksRead <= GOOD_ENOUGH * touched
        ? "few chunks are read twice"
        : undefined,
  });
  if (choice === undefined) return straight.plan;
  const { plan } = choice.best;
  return { ...plan, job: { ...plan.job, strategy: choice.strategy } };
}
