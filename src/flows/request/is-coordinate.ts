import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";

/** True if a node is a 1-d array whose dimension, if named, has this name. */
export function isCoordinate(node: ZarrNode, dimension: string): node is ZarrArray {
  if (node.kind !== "array" || node.shape.length !== 1) return false;
  const name = node.dimensionNames?.[0] ?? null;
  return name === null || name === dimension;
}
