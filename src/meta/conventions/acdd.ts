import { otherNames } from "../documents.ts";
import { type Convention, withAttributes } from "./convention.ts";
import { type DimensionChange, dimensionChanges } from "./dimensions.ts";

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
