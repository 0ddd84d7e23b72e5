import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { joinKey } from "../../../util/node-path.ts";
import { isJsonObject, member } from "../../assert-json.ts";

/**
 * The OME-Zarr metadata of a group. Up to 0.4, in Zarr v2, they are ordinary attributes; from 0.5 on, in Zarr v3,
 * they are together in the attribute `ome`.
 */
export interface OmeMetadata {
  /** The stated version; undefined if it is absent. */
  readonly version: string | undefined;
  /** The object with the members `multiscales`, `labels`, `plate` and so on. */
  readonly metadata: JsonObject;
}

/** Members of OME-Zarr metadata that identify the kind of a group. */
export const OME_NAMES = [
  "multiscales",
  "omero",
  "labels",
  "image-label",
  "plate",
  "well",
  "bioformats2raw.layout",
  "series",
] as const;

/** The attribute that contains all of it in Zarr v3. */
export const OME = "ome";

/** Images in a common space: a member of `ome` since 0.6. */
export const SCENE = "scene";

/** Finds OME-Zarr metadata of any version in a group's attributes. */
export function omeOf(attributes: JsonObject): OmeMetadata | undefined {
  const ome = member(attributes, OME);
  if (isJsonObject(ome) && (hasOmeName(ome) || member(ome, SCENE) !== undefined))
    return { version: text(member(ome, "version")), metadata: ome };
  return hasOmeName(attributes) ? { version: versionAmong(attributes), metadata: attributes } : undefined;
}

function hasOmeName(object: JsonObject): boolean {
  return OME_NAMES.some((name) => member(object, name) !== undefined);
}

/** Finds the version: up to 0.4 each object states its own, and all of a hierarchy are equal. */
function versionAmong(attributes: JsonObject): string | undefined {
  const [multiscale] = objectsIn(member(attributes, "multiscales"));
  const others = ["plate", "well", "image-label"].map((name) => member(attributes, name));
  const stated = [multiscale, ...others].map((object) => isJsonObject(object) && member(object, "version"));
  return stated.map((version) => text(version || undefined)).find((version) => version !== undefined);
}

/** The objects of a list; none if it is not a list. */
export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The strings of a list; none if it is not a list. */
export function textsIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** One image of a group in several resolutions, with its usable metadata. */
export interface Multiscale {
  /** The metadata as written. */
  readonly stated: JsonObject;
  /** Names of the axes, one per dimension of the arrays; undefined if they are not stated. */
  readonly axes: readonly string[] | undefined;
  /** Types of these axes, such as `channel`; undefined for those without. */
  readonly types: readonly (string | undefined)[];
  /** The arrays, the largest first. */
  readonly levels: readonly Level[];
}

export interface Level {
  /** Path below the group. */
  readonly path: string;
  /** The transformations of its indices, as written. */
  readonly transformations: JsonValue | undefined;
}

/** The implied axes of versions that had no others and stated none. */
const AXES_OF_5D = ["t", "c", "z", "y", "x"];

/** The multiscale images of a group, in any version; none if it has no usable `multiscales`. */
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
    return levels.length > 0
      ? [{ stated: multiscale, axes: axesOf(multiscale, ome.version), types: typesOf(multiscale), levels }]
      : [];
  });
}

function axesOf(multiscale: JsonObject, version: string | undefined): readonly string[] | undefined {
  const axes = statedAxes(multiscale);
  if (axes === undefined && (version === "0.1" || version === "0.2")) return AXES_OF_5D;
  const names = axes?.map((axis) => (isJsonObject(axis) ? member(axis, "name") : axis)) ?? [];
  const texts = names.filter((name) => typeof name === "string");
  const areDistinct = texts.length === names.length && new Set(texts).size === texts.length;
  return axes && areDistinct ? texts : undefined;
}

function typesOf(multiscale: JsonObject): (string | undefined)[] {
  return (statedAxes(multiscale) ?? []).map((axis) => {
    const type = isJsonObject(axis) ? member(axis, "type") : undefined;
    return typeof type === "string" ? type : undefined;
  });
}

/** Axis names that imply a type if none is stated. */
const USUAL_NAMES = { channel: "c", time: "t" } as const;

/** Index of the channel or time axis; -1 if the image has none. */
export function axisOfType({ axes = [], types }: Multiscale, type: keyof typeof USUAL_NAMES): number {
  const stated = types.indexOf(type);
  return stated >= 0 ? stated : axes.indexOf(USUAL_NAMES[type]);
}

/**
 * The axes of an image as written. Since 0.6, axes belong to coordinate systems: returns those of the system that the
 * levels use, or else of the first one.
 */
export function statedAxes(multiscale: JsonObject): readonly JsonValue[] | undefined {
  const axes = member(multiscale, "axes");
  if (axes !== undefined) return Array.isArray(axes) ? axes : undefined;
  const [first, ...others] = objectsIn(member(multiscale, "coordinateSystems"));
  const name = coordinateSystemOf(multiscale);
  const named = [first, ...others].find((system) => system && member(system, "name") === name);
  const own = member(named ?? first ?? {}, "axes");
  return Array.isArray(own) ? own : undefined;
}

/** Name of the coordinate system of an image's levels, since 0.6. */
export function coordinateSystemOf(multiscale: JsonObject): string | undefined {
  const [dataset = {}] = objectsIn(member(multiscale, "datasets"));
  const output = member(objectsIn(member(dataset, "coordinateTransformations")).at(-1) ?? {}, "output");
  const name = isJsonObject(output) ? member(output, "name") : output;
  return typeof name === "string" ? name : undefined;
}

/** Paths in transformations of 0.6: arrays that contain their numbers, and images that they connect. */
export function transformationPaths(transformations: JsonValue | undefined): string[] {
  return objectsIn(transformations).flatMap((one) => {
    const inner = ["transformation", "forward", "inverse"].map((name) => member(one, name) ?? null);
    const places = ["input", "output"].map((name) => member(one, name)).filter(isJsonObject);
    const paths = [one, ...places].map((place) => member(place, "path") ?? null);
    const nested = [...inner, ...objectsIn(member(one, "transformations"))];
    return [...textsIn(paths), ...transformationPaths(nested)];
  });
}

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
