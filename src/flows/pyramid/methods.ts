import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { ancestorsOf, isUnreadableAbove } from "../../hierarchy/open/ancestors-of.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { member } from "../../meta/assert-json.ts";
import { omeOf } from "../../meta/conventions/ome/attributes.ts";
import { parentSpec } from "../../stores/folder-spec.ts";
import { lastName } from "../../util/node-path.ts";
import type { PyramidMethod } from "./reduce-blocks.ts";

/** How an array shrinks, and why so. */
export interface ChosenMethod {
  readonly method: PyramidMethod;
  readonly reason: string;
}

/** Attributes by which CF conventions say that the values of a variable are classes. */
const FLAGS = ["flag_values", "flag_masks", "flag_meanings"];

/**
 * Why the values of an array are names of classes, of which a mean would make others, in words; undefined where they are
 * amounts.
 *
 * @param labels why the array is one of labels; undefined for others
 */
function classesOf({ attributes, metadata }: ZarrArray, labels: string | undefined): string | undefined {
  const flags = FLAGS.find((name) => name in attributes);
  if (labels !== undefined) return `labels: ${labels}`;
  if (flags !== undefined) return `classes: ${flags}`;
  return metadata.dataType.kind === "bool" ? "a mask: bool" : undefined;
}

/** Whether the fill value is one of the values: the background of labels, the false of a mask. */
export function lacksNone({ metadata }: ZarrArray, labels: string | undefined): boolean {
  return labels !== undefined || metadata.dataType.kind === "bool";
}

/** The method of an image: what is asked for; else `mode` for classes, and `mean`. */
export function methodOfImage(
  array: ZarrArray,
  { asked, labels }: { readonly asked: PyramidMethod | undefined; readonly labels: string | undefined },
): ChosenMethod {
  if (asked !== undefined) return { method: asked, reason: "as asked" };
  const classes = classesOf(array, labels);
  return classes ? { method: "mode", reason: classes } : { method: "mean", reason: "by default" };
}

/** Why a node is one of labels, by its metadata, those of the image it is a level of, or its place; undefined for others. */
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
