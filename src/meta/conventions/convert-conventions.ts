import type { ZarrFormat } from "../array-metadata.ts";
import type { Convention, ConventionNode, ConventionNote } from "./convention.ts";
import { missingValues } from "./missing-values.ts";
import { ncZarr } from "./nczarr.ts";
import { omeZarr } from "./ome/ome.ts";

/**
 * Conventions whose place or words change with the format, in the order in which they are carried over; from v3 on in the
 * reverse order, so that each finds what it left on the way there. Arrays of images get dimension names last: they are no
 * variables of CF conventions.
 */
export const CONVENTIONS: readonly Convention[] = [ncZarr, missingValues, omeZarr];

/** Nodes in the words of another format, and what is to be said about them. */
export interface ConvertedNodes {
  readonly nodes: readonly ConventionNode[];
  readonly notes: readonly ConventionNote[];
}

/** Carries all conventions of a hierarchy over to another format; nodes that none speaks of stay the same objects. */
export function convertConventions(
  nodes: readonly ConventionNode[],
  { from, to }: { readonly from: ZarrFormat; readonly to: ZarrFormat },
  conventions: readonly Convention[] = CONVENTIONS,
): ConvertedNodes {
  const notes: ConventionNote[] = [];
  if (from === to) return { nodes, notes };
  const change = { from, to, note: (note: ConventionNote) => void notes.push(note) };
  const inOrder = from === "v3" ? [...conventions].reverse() : conventions;
  const converted = inOrder.reduce((soFar, convention) => convention.convert(soFar, change), nodes);
  return { nodes: converted, notes };
}
