import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { isObject, member } from "../../assert-json.ts";
import { joinKey } from "../../join-key.ts";
import { objectsIn, omeOf } from "./attributes.ts";

/** One image of a group in several resolutions, as far as its metadata can be used. */
export interface Multiscale {
  /** Names of the axes, as many as the arrays have dimensions; undefined where they are not stated. */
  readonly axes: readonly string[] | undefined;
  /** The arrays, the largest first. */
  readonly levels: readonly Level[];
}

export interface Level {
  /** Path below the group. */
  readonly path: string;
  /** The transformations of its indices, as they are stated. */
  readonly transformations: JsonValue | undefined;
}

/** The axes of versions that knew no others and stated none. */
const AXES_OF_5D = ["t", "c", "z", "y", "x"];

/** The multiscale images of a group, whatever the version; none where it has no usable `multiscales`. */
export function multiscalesOf(attributes: JsonObject): Multiscale[] {
  const ome = omeOf(attributes);
  if (ome === undefined) return [];
  return objectsIn(member(ome.metadata, "multiscales")).flatMap((multiscale) => {
    const levels = objectsIn(member(multiscale, "datasets")).flatMap((dataset) => {
      const path = member(dataset, "path");
      return typeof path === "string"
        ? [{ path, transformations: member(dataset, "coordinateTransformations") }]
        : [];
    });
    return levels.length > 0 ? [{ axes: axesOf(multiscale, ome.version), levels }] : [];
  });
}

function axesOf(multiscale: JsonObject, version: string | undefined): readonly string[] | undefined {
  const axes = member(multiscale, "axes");
  if (axes === undefined && (version === "0.1" || version === "0.2")) return AXES_OF_5D;
  if (!Array.isArray(axes)) return undefined;
  const names = axes.map((axis) => (isObject(axis) ? member(axis, "name") : axis));
  const texts = names.filter((name) => typeof name === "string");
  return texts.length === names.length && new Set(texts).size === texts.length ? texts : undefined;
}

/** A node of a hierarchy. */
interface Node {
  readonly path: string;
  readonly metadata: { readonly kind: "array" | "group"; readonly attributes: JsonObject };
}

/** Names of the axes of all arrays that are levels of an image among the nodes, by path. */
export function axesByArray(nodes: readonly Node[]): ReadonlyMap<string, readonly string[]> {
  const axes = new Map<string, readonly string[]>();
  for (const { path, metadata } of nodes) {
    if (metadata.kind !== "group") continue;
    for (const image of multiscalesOf(metadata.attributes)) {
      for (const level of image.levels) {
        const array = joinKey(path, level.path);
        if (image.axes && !axes.has(array)) axes.set(array, image.axes);
      }
    }
  }
  return axes;
}
