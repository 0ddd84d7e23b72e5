import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { isJsonObject } from "../../assert-json.ts";
import { otherNames } from "../../documents.ts";
import { type Convention, withAttributes } from "../convention.ts";
import { dimensionChanges } from "../dimensions.ts";

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
