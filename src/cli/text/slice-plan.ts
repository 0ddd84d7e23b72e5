import type { SlicePlan } from "../../flows/plan-slice.ts";
import { formatBytes } from "../../util/byte-size.ts";
import { columns } from "./columns.ts";
import { counted, formatShape } from "./numbers.ts";
import { printable } from "./printable.ts";
import { takenRows } from "./taken.ts";

/** How a slice will be read in C order and what that will cost, as lines. */
export function slicePlanText(plan: SlicePlan, name: string): string {
  const { slabs, slabShape, chunksRead, chunksTouched, readAmplification, predictedPeak, maxMemory } = plan;
  const { passes, cost } = plan.job;
  const objects = passes?.reduce((sum, { tasks }) => sum + tasks, 0) ?? 0;
  const scratch = passes && [
    "scratch",
    `${counted(objects, "object")} before the first slab, ${formatBytes(cost?.scratchBytes ?? 0)}`,
  ];
  const rows = [
    ...takenRows(plan.taken),
    ["slabs", `${counted(slabs, "slab")} of ${formatShape(slabShape)}, in C order`],
    ["reads", `${counted(chunksRead, "chunk")}; ${counted(chunksTouched, "chunk")} hold items of it`],
    ["amplification", `each chunk is read ${readAmplification.toFixed(2)} times`],
    ...(scratch ? [scratch] : []),
    ["memory", `${formatBytes(predictedPeak)} predicted, ${formatBytes(maxMemory)} allowed`],
  ];
  return `${printable(name)}  ${plan.dataType} ${formatShape(plan.shape)}\n${columns(rows)}\n`;
}
