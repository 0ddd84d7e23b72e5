import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { ancestorsOf, isUnreadableAbove } from "../../hierarchy/open/ancestors-of.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { member } from "../../meta/assert-json.ts";
import { omeOf } from "../../meta/conventions/ome/attributes.ts";
import { parentSpec } from "../../stores/store-spec.ts";
import { lastName } from "../../util/node-path.ts";
import type { PyramidMethod } from "./reduce-blocks.ts";

/** How an array shrinks, and the reason. */
export interface ChosenMethod {
  readonly method: PyramidMethod;
  readonly reason: string;
}

/** Attributes that mark the values of a variable as classes in CF conventions. */
const FLAGS = ["flag_values", "flag_masks", "flag_meanings"];

/**
 * Reason, in words, why the values of an array are classes, which a mean would falsify; undefined if they are
 * quantities.
 *
 * @param labels why the array contains labels; undefined if it does not
 */
function classesOf({ attributes, metadata }: ZarrArray, labels: string | undefined): string | undefined {
  const flags = FLAGS.find((name) => name in attributes);
  if (labels !== undefined) return `labels: ${labels}`;
  if (flags !== undefined) return `classes: ${flags}`;
  return metadata.dataType.kind === "bool" ? "a mask: bool" : undefined;
}

/** True if the fill value is a regular value: the background of labels, or false in a mask. */
export function lacksNone({ metadata }: ZarrArray, labels: string | undefined): boolean {
  return labels !== undefined || metadata.dataType.kind === "bool";
}

/** Method of an image: as requested; by default `mode` for classes, otherwise `mean`. */
export function methodOfImage(
  array: ZarrArray,
  { asked, labels }: { readonly asked: PyramidMethod | undefined; readonly labels: string | undefined },
): ChosenMethod {
  if (asked !== undefined) return { method: asked, reason: "as asked" };
  const classes = classesOf(array, labels);
  return classes ? { method: "mode", reason: classes } : { method: "mean", reason: "by default" };
}

/** Reason why a node is a label image: its own metadata, those of its image, or its path; undefined if it is not. */
export async function labelsBy(
  node: ZarrNode,
  group: ZarrGroup | undefined,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { metadata } = omeOf(group?.metadata.attributes ?? {}) ?? {};
  if (metadata && member(metadata, "image-label") !== undefined) return "image-label";
  return (await isBelowLabels(node, signal)) ? "below `labels`" : undefined;
}

async function isBelowLabels(
  { store, spec, path, layout: { zarrFormat } }: ZarrNode,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    for await (const above of ancestorsOf(store, spec, path)) {
      const name = above.path === "" ? parentSpec(above.spec)?.name : lastName(above.path);
      if (name !== "labels" || above.path === above.nodePath) continue;
      const group = await openNode(above.store, above.path, { spec: above.spec, zarrFormat, signal });
      if (group?.kind === "group") return true;
    }
  } catch (error) {
    if (!isUnreadableAbove(error)) throw error;
  }
  return false;
}
