import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import { isObject, member } from "../assert-json.ts";
import { numberOf } from "./ome/placement.ts";

/** What is taken of one level along one dimension. */
export interface AxisCut {
  readonly start: number;
  readonly step: number;
}

const WHOLE: AxisCut = { start: 0, step: 1 };

/**
 * The attributes of a group whose levels are cut, by the proposed convention `multiscales` of GeoZarr: each level of its
 * `layout` lies elsewhere in the items of the level that it is derived from. Attributes stay the same object where nothing
 * is cut, and where the dimensions of the numbers are not stated.
 *
 * @param cutOf what is taken of the level at a path below the group; undefined where that is all along the dimension
 */
export function cutLayout(
  attributes: JsonObject,
  cutOf: (asset: string, dimension: string) => AxisCut | undefined,
): JsonObject {
  const multiscales = member(attributes, "multiscales");
  const layout = isObject(multiscales) ? member(multiscales, "layout") : undefined;
  if (!isObject(multiscales) || !Array.isArray(layout)) return attributes;
  const stated = member(multiscales, "spatial_dimensions") ?? member(attributes, "spatial:dimensions");
  const dimensions = Array.isArray(stated) ? stated.filter((name) => typeof name === "string") : [];
  const cutEntry = (entry: JsonValue): JsonValue => {
    const [asset, base] = isObject(entry) ? [member(entry, "asset"), member(entry, "derived_from")] : [];
    const transform = isObject(entry) ? member(entry, "transform") : undefined;
    if (!isObject(entry) || typeof asset !== "string" || typeof base !== "string" || !isObject(transform))
      return entry;
    const [scale, translation] = [
      vector(transform, "scale", dimensions),
      vector(transform, "translation", dimensions),
    ];
    if (scale === undefined) return entry;
    const cuts = dimensions.map((name) => [cutOf(asset, name), cutOf(base, name)] as const);
    if (cuts.every((pair) => pair.every((cut) => cut === undefined))) return entry;
    const moved = cuts.map(([own = WHOLE, of = WHOLE], d) => {
      const at = (translation?.[d] ?? 0) + own.start * (scale[d] ?? 1);
      return { scale: ((scale[d] ?? 1) * own.step) / of.step, translation: (at - of.start) / of.step };
    });
    const numbers = {
      scale: moved.map((one) => one.scale),
      translation: moved.map((one) => one.translation),
    };
    return { ...entry, transform: { ...transform, ...numbers } };
  };
  const cut = layout.map(cutEntry);
  const isCut = cut.some((entry, i) => entry !== layout[i]);
  return isCut ? { ...attributes, multiscales: { ...multiscales, layout: cut } } : attributes;
}

/** Numbers of a transform, one for each dimension; undefined for anything else. */
function vector(transform: JsonObject, name: string, dimensions: readonly string[]): number[] | undefined {
  const values = member(transform, name);
  const numbers = Array.isArray(values) ? values.map(numberOf).filter((value) => value !== undefined) : [];
  return numbers.length > 0 && numbers.length === dimensions.length ? numbers : undefined;
}
