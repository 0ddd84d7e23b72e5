import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { isObject, member } from "../../assert-json.ts";
import { objectsIn, omeOf } from "./attributes.ts";

/** The version for Zarr v2, and the one for Zarr v3; they say the same in other places. */
export const V2_VERSION = "0.4";
export const V3_VERSION = "0.5";

/** Objects that state their version in both. */
const VERSIONED = ["plate", "well", "image-label", "omero"];

/**
 * The version of a group's OME-Zarr metadata where they stand among its attributes: the one that is stated, or 0.4 where
 * the objects are such as no other version has; undefined where they may be of another convention.
 */
export function versionInV2(attributes: JsonObject): string | undefined {
  const ome = omeOf(attributes);
  if (ome === undefined || ome.metadata !== attributes) return undefined;
  const [multiscale = {}] = objectsIn(member(attributes, "multiscales"));
  const [axis] = objectsIn(member(multiscale, "axes"));
  if (ome.version !== undefined) return ome.version;
  if (axis && member(axis, "name") !== undefined) return V2_VERSION;
  return member(attributes, "bioformats2raw.layout") === undefined ? undefined : V2_VERSION;
}

/** The members of a group in the words of 0.5, without the version of them all. */
export function inWordsOfV3(members: JsonObject): JsonObject {
  return mapMembers(members, V2_VERSION, V3_VERSION, ({ version: _, ...multiscale }) => multiscale);
}

/** The same in the words of 0.4. */
export function inWordsOfV2(members: JsonObject): JsonObject {
  return mapMembers(members, V3_VERSION, V2_VERSION, ({ version: _, ...multiscale }) => ({
    version: V2_VERSION,
    ...multiscale,
  }));
}

function mapMembers(
  members: JsonObject,
  from: string,
  to: string,
  multiscale: (image: JsonObject) => JsonObject,
): JsonObject {
  const convert = (name: string, value: JsonValue): JsonValue => {
    if (name === "multiscales" && Array.isArray(value)) {
      return value.map((image) => (isObject(image) ? multiscale(image) : image));
    }
    const isVersioned = VERSIONED.includes(name) && isObject(value) && member(value, "version") === from;
    return isVersioned ? { ...value, version: to } : value;
  };
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, convert(name, value)]));
}
