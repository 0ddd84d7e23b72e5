import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { onlyItem } from "../../assert-json.ts";

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
