import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { onlyItem } from "../../assert-json.ts";
import { otherNames } from "../../documents.ts";
import { type Convention, isArray, withAttributes } from "../convention.ts";
import { axisChange, isSameAxis } from "../geo/raster-change.ts";

/** Names or paths of the variables that a variable's attributes refer to, per the CF conventions. */
export function referencesOf(attributes: JsonObject): string[] {
  const named = NAMES.flatMap((name) => wordsOf(attributes[name]));
  const terms = TERMS.flatMap((name) => wordsOf(attributes[name])).filter((word) => !word.endsWith(":"));
  return [...new Set([...named, ...terms, ...gridMappingsOf(attributes)])]
    .filter((name) => name !== "")
    .slice(0, MAX_NAMES);
}

/** The words of `grid_mapping`: names of mappings, and of their coordinates if listed. */
export function gridMappingsOf(attributes: JsonObject): string[] {
  return wordsOf(attributes[MAPPING]).map((word) => word.replace(/:$/, ""));
}

/** Names of coordinates in a group's own attributes, which xarray stores there if no variable refers to them. */
export function groupCoordinates(attributes: JsonObject): string[] {
  return [...new Set(wordsOf(attributes.coordinates))].slice(0, MAX_NAMES);
}

/** Splits a text into words; terms keep their colon. */
function wordsOf(attribute: JsonValue | undefined): string[] {
  const value = onlyItem(attribute);
  return typeof value === "string" ? value.split(/\s+|(?<=:)/).filter((word) => word !== "") : [];
}

/** Attributes with names of variables, separated by spaces. */
const NAMES = [
  "coordinates",
  "bounds",
  "climatology",
  "ancillary_variables",
  "geometry",
  "nodes",
  "node_coordinates",
  "node_count",
  "part_node_count",
  "interior_ring",
];

/** Attributes with pairs of a term and a name: `area: cell_area`. */
const TERMS = ["cell_measures", "formula_terms"];

/** `crs`, or names of mappings each with its coordinates: `crs: x y`. */
const MAPPING = "grid_mapping";

/** Most names to read from one array, because attributes are untrusted. */
const MAX_NAMES = 1000;

/** Attributes that make an array's items indices or counts along named dimensions (CF, sections 8.2 and 9.3). */
const INDEX_ATTRIBUTES = ["compress", "sample_dimension", "instance_dimension"];

/**
 * Compression by gathering, and ragged arrays. Their items refer to dimensions that may belong to no array. Items are
 * not rewritten, so the attribute is removed if such a dimension is cut.
 */
export const ragged: Convention = {
  name: "CF gathering and ragged arrays",
  follow(nodes, change) {
    const having = nodes.filter(({ metadata: { attributes } }) =>
      INDEX_ATTRIBUTES.some((name) => Object.hasOwn(attributes, name)),
    );
    if (having.length === 0) return nodes;
    const [changed, cut] = [new Set<string | null>(), new Set<string | null>()];
    for (const array of nodes.filter(isArray)) {
      for (const [d, name] of (array.metadata.dimensionNames ?? []).entries()) {
        const axis = axisChange(array, d);
        if (axis === undefined || isSameAxis(axis)) continue;
        changed.add(name);
        // appending items changes neither counts nor indices along one dimension
        if (!isSameAxis({ ...axis, after: Math.min(axis.before, axis.after) })) cut.add(name);
      }
    }
    return nodes.map((node) => {
      if (!isArray(node) || !having.includes(node)) return node;
      const { attributes, dimensionNames = [] } = node.metadata;
      const lost = INDEX_ATTRIBUTES.filter((name) => {
        const isUntrue = (dimension: string) => (name === "compress" ? changed : cut).has(dimension);
        const own = name === "sample_dimension" ? dimensionNames.filter((one) => one !== null) : [];
        return [...wordsIn(attributes[name]), ...(Object.hasOwn(attributes, name) ? own : [])].some(isUntrue);
      });
      if (lost.length === 0) return node;
      change.note(
        node,
        `${lost.map((name) => `\`${name}\``).join(", ")} dropped: items of this array are indices along a sliced dimension`,
        "Decode the data set first, or slice along other dimensions.",
      );
      return withAttributes(node, otherNames(attributes, lost));
    });
  },
};

function wordsIn(value: JsonValue | undefined): string[] {
  return typeof value === "string" ? value.split(/\s+/).filter((word) => word !== "") : [];
}
