import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { isObject, member } from "../../assert-json.ts";

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
  if (isObject(ome) && (hasOmeName(ome) || member(ome, SCENE) !== undefined))
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
  const stated = [multiscale, ...others].map((object) => isObject(object) && member(object, "version"));
  return stated.map((version) => text(version || undefined)).find((version) => version !== undefined);
}

/** The objects of a list; none if it is not a list. */
export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The strings of a list; none if it is not a list. */
export function textsIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
