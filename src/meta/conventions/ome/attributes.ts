import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { isObject, member } from "../../assert-json.ts";

/**
 * The OME-Zarr metadata of a group. Up to 0.4, in Zarr v2, they are attributes among others; from 0.5 on, in Zarr v3,
 * they lie together in the attribute `ome`.
 */
export interface OmeMetadata {
  /** As the metadata state it; undefined where nothing does. */
  readonly version: string | undefined;
  /** The object that has `multiscales`, `labels`, `plate` and the like as its members. */
  readonly metadata: JsonObject;
}

/** Members of OME-Zarr metadata, by which a group is known as one of its kind. */
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

/** The name that holds all of it in Zarr v3. */
export const OME = "ome";

/** Images that lie in one space: a member of `ome` since 0.6. */
export const SCENE = "scene";

/** OME-Zarr metadata of any version, as far as a group's attributes hold any. */
export function omeOf(attributes: JsonObject): OmeMetadata | undefined {
  const ome = member(attributes, OME);
  if (isObject(ome) && (hasOmeName(ome) || member(ome, SCENE) !== undefined))
    return { version: text(member(ome, "version")), metadata: ome };
  return hasOmeName(attributes) ? { version: versionAmong(attributes), metadata: attributes } : undefined;
}

function hasOmeName(object: JsonObject): boolean {
  return OME_NAMES.some((name) => member(object, name) !== undefined);
}

/** Up to 0.4 each object states its version; those of one hierarchy are the same. */
function versionAmong(attributes: JsonObject): string | undefined {
  const [multiscale] = objectsIn(member(attributes, "multiscales"));
  const others = ["plate", "well", "image-label"].map((name) => member(attributes, name));
  const stated = [multiscale, ...others].map((object) => isObject(object) && member(object, "version"));
  return stated.map((version) => text(version || undefined)).find((version) => version !== undefined);
}

/** The objects of a list; none where there is no list. */
export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The strings of a list; none where there is no list. */
export function textsIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
