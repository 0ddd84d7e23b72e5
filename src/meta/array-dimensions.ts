import type { JsonObject } from "../util/json-value.ts";
import type { ArrayMetadata } from "./array-metadata.ts";
import { member } from "./assert-json.ts";
import { otherNames } from "./documents.ts";
import type { Finding } from "./format.ts";
import type { Losses } from "./losses.ts";

/** The attribute that contains the dimension names in formats without a member for them. */
const DIMENSIONS = "_ARRAY_DIMENSIONS";

/** Moves the dimension names out of the attributes, unless they are not a list of one string per dimension. */
export function takeDimensionNames(
  attributes: JsonObject,
  rank: number,
  findings: Finding[],
): Pick<ArrayMetadata, "attributes" | "dimensionNames"> {
  const names = member(attributes, DIMENSIONS);
  if (names === undefined) return { attributes };
  if (!Array.isArray(names) || names.length !== rank || !names.every((name) => typeof name === "string")) {
    findings.push({ message: `must name each of ${rank} dimensions`, pointer: `/${DIMENSIONS}` });
    return { attributes };
  }
  return { attributes: otherNames(attributes, [DIMENSIONS]), dimensionNames: names };
}

/** The attributes of an array, with its dimension names added. */
export function withDimensionNames(
  { attributes, dimensionNames }: ArrayMetadata,
  losses: Losses,
): JsonObject {
  if (dimensionNames === undefined) return attributes;
  if (dimensionNames.includes(null)) {
    if (dimensionNames.some((name) => name !== null)) {
      losses.add("/dimension_names", "an array that names only some of its dimensions");
    }
    return attributes;
  }
  if (Object.hasOwn(attributes, DIMENSIONS)) {
    losses.add(`/attributes/${DIMENSIONS}`, "an attribute in place of the dimension names");
  }
  return { ...attributes, [DIMENSIONS]: [...dimensionNames] };
}
