import { ZarrflowError } from "../../../util/errors.ts";
import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { isJsonObject, member } from "../../assert-json.ts";
import { objectsIn, omeOf } from "./attributes.ts";

/** The versions for Zarr v2 and for Zarr v3; they have the same content in different places. */
export const V2_VERSION = "0.4";

export const V3_VERSION = "0.5";

/** Hint for versions that a conversion does not change. */
export const READ_VERSIONS = "OME-Zarr readers require version 0.4 in Zarr v2, and 0.5 or 0.6 in Zarr v3.";

/** The version that describes coordinate systems, for Zarr v3 only. */
const SYSTEMS_VERSION = "0.6";

/**
 * The version whose vocabulary OME-Zarr metadata use. If they have coordinate systems, it is 0.6, whatever its draft;
 * otherwise 0.5 in Zarr v3 and 0.4 in v2.
 *
 * @throws `unsupported-operation` for unknown versions.
 */
export function omeVersion(attributes: JsonObject): "0.4" | "0.5" | "0.6" {
  const { version, metadata } = omeOf(attributes) ?? { metadata: attributes };
  if (version !== undefined && !/^0\.[1-6](?!\d)/.test(version)) {
    throw new ZarrflowError("unsupported-operation", `OME-Zarr ${version} is not known`, {
      expected: "0.1 to 0.6",
      hint: "Copy the whole image, or one of its arrays.",
    });
  }
  const images = objectsIn(member(metadata, "multiscales"));
  const hasSystems = images.some((image) => member(image, "coordinateSystems") !== undefined);
  if (version?.startsWith(SYSTEMS_VERSION) || (version === undefined && hasSystems)) return SYSTEMS_VERSION;
  return metadata === attributes ? V2_VERSION : V3_VERSION;
}

/** Objects that state their version in both. */
const VERSIONED = ["plate", "well", "image-label", "omero"];

/**
 * The version of a group's OME-Zarr metadata that are ordinary attributes: the stated one, or 0.4 if only this
 * version has such objects. Undefined if they may belong to another convention.
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

/** Converts the members of a group to the vocabulary of 0.5; does not add the common version. */
export function inWordsOfV3(members: JsonObject): JsonObject {
  return mapMembers(members, V2_VERSION, V3_VERSION, ({ version: _, ...multiscale }) => multiscale);
}

/** Converts the members of a group to the vocabulary of 0.4. */
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
      return value.map((image) => (isJsonObject(image) ? multiscale(image) : image));
    }
    const isVersioned = VERSIONED.includes(name) && isJsonObject(value) && member(value, "version") === from;
    return isVersioned ? { ...value, version: to } : value;
  };
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, convert(name, value)]));
}
