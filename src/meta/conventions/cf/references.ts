import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { onlyItem } from "../../assert-json.ts";

/** Attributes that are names of variables, separated by blanks. */
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

/** Attributes that are pairs of a term and a name: `area: cell_area`. */
const TERMS = ["cell_measures", "formula_terms"];

/** `crs`, or names of mappings each with its coordinates: `crs: x y`. */
const MAPPING = "grid_mapping";

/** The most names that are taken of an array: its attributes may be anybody's. */
const MAX_NAMES = 1000;

/** Names, or paths, of the variables that the attributes of a variable refer to, after the CF conventions. */
export function referencesOf(attributes: JsonObject): string[] {
  const named = NAMES.flatMap((name) => wordsOf(attributes[name]));
  const terms = TERMS.flatMap((name) => wordsOf(attributes[name])).filter((word) => !word.endsWith(":"));
  return [...new Set([...named, ...terms, ...gridMappingsOf(attributes)])]
    .filter((name) => name !== "")
    .slice(0, MAX_NAMES);
}

/** The words of `grid_mapping`: names of mappings, and of the coordinates of each where it states them. */
export function gridMappingsOf(attributes: JsonObject): string[] {
  return wordsOf(attributes[MAPPING]).map((word) => word.replace(/:$/, ""));
}

/** Names of the coordinates that a group gives to its variables: those that no variable of it had to name. */
export function groupCoordinates(attributes: JsonObject): string[] {
  return [...new Set(wordsOf(attributes.coordinates))].slice(0, MAX_NAMES);
}

/** Words of a text; a term ends with its colon. */
function wordsOf(attribute: JsonValue | undefined): string[] {
  const value = onlyItem(attribute);
  return typeof value === "string" ? value.split(/\s+|(?<=:)/).filter((word) => word !== "") : [];
}
