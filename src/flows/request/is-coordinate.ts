import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";

/** Whether a node is 1-d, and of the dimension, where it names one. */
export function isCoordinate(node: ZarrNode, dimension: string): node is ZarrArray {
  if (node.kind !== "array" || node.shape.length !== 1) return false;
  const name = node.dimensionNames?.[0] ?? null;
  return name === null || name === dimension;
}
