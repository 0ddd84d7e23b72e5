import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import { isJsonObject } from "../assert-json.ts";
import { otherNames } from "../documents.ts";
import { type Convention, withAttributes } from "./convention.ts";
import { type DimensionChange, dimensionChanges } from "./dimensions.ts";

/**
 * Attributes of a group that describe its extent in space and time. They repeat values of coordinates, which may be
 * in another group if there is a projection, so wrong ones are removed rather than recomputed.
 */
export const discoveryMetadata: Convention = {
  name: "ACDD",
  ofOthers: /^(?:geospatial|time_coverage)_/,
  follow(nodes, change) {
    return nodes.map((node) => {
      const { kind, attributes } = node.metadata;
      if (kind === "array" || !Object.keys(attributes).some(isName)) return node;
      const names = new Set(dimensionChanges(node, nodes).flatMap(untrue));
      const lost = [...names].filter((name) => Object.hasOwn(attributes, name));
      if (lost.length === 0) return node;
      change.note(
        node,
        `${lost.map((name) => `\`${name}\``).join(", ")} dropped: the target covers another extent or has another spacing`,
        "If readers need them, set them from the coordinates of the target.",
      );
      return withAttributes(node, otherNames(attributes, lost));
    });
  },
};

function isName(name: string): boolean {
  return name.startsWith("geospatial_") || name.startsWith("time_coverage_");
}

/** Attributes of the Attribute Convention for Data Discovery that a change of a dimension makes wrong. */
function untrue({ kind, isCut, isMoved, isCoarser }: DimensionChange): string[] {
  const begins = isCut && isMoved;
  switch (kind) {
    case "x":
    case "y":
      return [
        ...(isCut
          ? ["geospatial_lat_min", "geospatial_lat_max", "geospatial_lon_min", "geospatial_lon_max"]
          : []),
        ...(isCut ? ["geospatial_bounds"] : []),
        ...(isCoarser ? [kind === "y" ? "geospatial_lat_resolution" : "geospatial_lon_resolution"] : []),
      ];
    case "vertical":
      return [
        ...(isCut ? ["geospatial_vertical_min", "geospatial_vertical_max"] : []),
        ...(isCoarser ? ["geospatial_vertical_resolution"] : []),
      ];
    case "time":
      return [
        ...(begins ? ["time_coverage_start"] : []),
        ...(isCut ? ["time_coverage_end", "time_coverage_duration"] : []),
        ...(isCoarser ? ["time_coverage_resolution"] : []),
      ];
    case "other":
      return [];
  }
}

/** Members that locate a STAC item in space, and properties of items and assets that do so. */
const SPACE = ["bbox", "geometry"];

const SPACE_PROPERTIES = ["proj:shape", "proj:transform", "proj:bbox", "proj:geometry", "proj:centroid"];

const TIME_PROPERTIES = ["start_datetime", "end_datetime"];

/** The attribute in which EOPF stores a product's item. */
const ITEM = "stac_discovery";

/** The STAC item of a product. Removes its location and time if they no longer match the data. */
export const stac: Convention = {
  name: "STAC",
  ofOthers: /^stac_discovery$/,
  follow(nodes, change) {
    return nodes.map((node) => {
      const { attributes } = node.metadata;
      const item = node.metadata.kind === "group" ? attributes[ITEM] : undefined;
      if (!isJsonObject(item)) return node;
      const changes = dimensionChanges(node, nodes);
      const isMoved = changes.some(({ kind, isCut }) => (kind === "x" || kind === "y") && isCut);
      const isRegridded = changes.some(({ kind }) => kind === "x" || kind === "y");
      const isOtherTime = changes.some(({ kind, isCut }) => kind === "time" && isCut);
      const names = [
        ...(isRegridded ? SPACE_PROPERTIES : []),
        ...(isMoved ? SPACE : []),
        ...(isOtherTime ? TIME_PROPERTIES : []),
      ];
      const lost = new Set<string>();
      const now = without(item, names, lost, MAX_DEPTH);
      if (lost.size === 0) return node;
      const list = [...lost].map((name) => `\`${name}\``).join(", ");
      change.note(node, `${list} of \`${ITEM}\` dropped: the product is sliced or resampled`);
      return withAttributes(node, { ...attributes, [ITEM]: now });
    });
  },
};

/** Deepest nesting to search: items contain assets, and assets contain bands. */
const MAX_DEPTH = 5;

function without(object: JsonObject, names: readonly string[], lost: Set<string>, depth: number): JsonObject {
  const own = names.filter((name) => Object.hasOwn(object, name));
  for (const name of own) lost.add(name);
  const kept = own.length > 0 ? otherNames(object, own) : object;
  if (depth === 0) return kept;
  const inside = (value: JsonValue): JsonValue =>
    isJsonObject(value)
      ? without(value, names, lost, depth - 1)
      : Array.isArray(value)
        ? value.map(inside)
        : value;
  return Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, inside(value)]));
}
