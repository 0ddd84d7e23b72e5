import type { SlicePlan } from "../../flows/plan-slice.ts";
import { columns } from "../../flows/text/columns.ts";
import { counted, formatShape } from "../../flows/text/numbers.ts";
import { printable } from "../../flows/text/printable.ts";
import { takenRows } from "../../flows/text/taken.ts";
import { formatBytes } from "../../util/byte-size.ts";

/** Describes how a slice will be read in C order, and its cost. */
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
