import type { FoundLabels } from "../../flows/request/labels/found-labels.ts";
import { printable } from "./printable.ts";

/** What labels became: the indices, and the labels of their ends in full. */
export function labelRows(labels: readonly FoundLabels[] = []): string[][] {
  return labels.map(({ dimension, labels: asked, indices, first, last }) => {
    const range = typeof indices === "number" ? `index ${indices}` : `indices ${indices.join(":")}`;
    const ends = first === last ? first : `${first} to ${last}`;
    return [printable(dimension), printable(`${asked}: ${range} (${ends})`)];
  });
}
