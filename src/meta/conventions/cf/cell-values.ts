import { JsonNumber, type JsonObject, type JsonValue } from "../../../util/json-value.ts";
import { lastName } from "../../../util/node-path.ts";
import { otherNames } from "../../documents.ts";
import {
  type ChangedArray,
  type Convention,
  type GridChange,
  isArray,
  withAttributes,
} from "../convention.ts";
import { writtenLike } from "../geo/numbers.ts";
import { axisChange, isSameAxis } from "../geo/raster-change.ts";
import { numberIn, packingOf, rereadInteger } from "./packing.ts";

/** Attributes of CF and GDAL that are computed from all items. */
const STATISTICS = /^(?:actual_range|actual_min|actual_max|STATISTICS_[A-Z_]+)$/;

/** Attributes that mark an array as a variable of the CF conventions, in addition to dimension names. */
const OF_VARIABLES = ["standard_name", "units", "cell_methods", "grid_mapping", "coordinates", "long_name"];

/** Attributes with values of the array's own data type. */
const VALUES = ["valid_range", "valid_min", "valid_max", "missing_value", "flag_values", "flag_masks"];

/**
 * Words of `cell_methods` for the methods of a pyramid (CF, appendix E). Methods that keep items unchanged have none.
 */
const METHODS: Readonly<Record<string, string>> = {
  mean: "mean",
  mode: "mode",
  min: "minimum",
  max: "maximum",
};

/**
 * CF attributes that describe items and cells. If items are removed or added, statistics of all items are unknown and
 * therefore dropped. Items made from blocks get a new `cell_methods`. If an array gets another data type, attributes
 * that stored integers of the other sign are decoded. `valid_range` and flags stay true for parts, means and
 * extremes. For shifted numbers, such as longitudes beyond a seam, the valid range is widened to cover old and new
 * values.
 */
export const cellValues: Convention = {
  name: "CF cells",
  follow(nodes, change) {
    const bounds = new Set(nodes.flatMap(({ metadata: { attributes } }) => namesIn(attributes)));
    return nodes.map((node) => {
      if (!isArray(node)) return node;
      const kept = withoutStatistics(node, change);
      const name = lastName(node.path);
      const isVariable = !bounds.has(name) && !isCoordinate(node, name);
      const described = isVariable ? withMethod(node, kept) : kept;
      return withAttributes(node, withWiderRange(node, asMeant(node, described), change));
    });
  },
};

function namesIn({ bounds, climatology }: JsonObject): string[] {
  return [bounds, climatology].filter((name) => typeof name === "string");
}

function isCoordinate({ metadata: { dimensionNames = [] } }: ChangedArray, name: string): boolean {
  return dimensionNames.length === 1 && dimensionNames[0] === name;
}

function withoutStatistics(node: ChangedArray, change: GridChange): JsonObject {
  const { attributes, shape } = node.metadata;
  const before = node.from.metadata;
  const isSame = node.placing === undefined && before.kind === "array" && `${before.shape}` === `${shape}`;
  const lost = isSame ? [] : Object.keys(attributes).filter((name) => STATISTICS.test(name));
  if (lost.length === 0) return attributes;
  change.note(
    node,
    `${lost.map((name) => `\`${name}\``).join(", ")} dropped: the target has other items than those it was computed from`,
  );
  return otherNames(attributes, lost);
}

function withMethod({ metadata, placing }: ChangedArray, attributes: JsonObject): JsonObject {
  const word = METHODS[placing?.method ?? ""];
  const { cell_methods: before } = attributes;
  const isDescribed = OF_VARIABLES.some((name) => Object.hasOwn(attributes, name));
  if (word === undefined || !isDescribed || (before !== undefined && typeof before !== "string"))
    return attributes;
  const names = metadata.dimensionNames?.filter((_, d) => (placing?.step[d] ?? 1) !== 1) ?? [];
  if (names.length === 0 || names.includes(null)) return attributes;
  const method = `${names.map((name) => `${name}: `).join("")}${word}`;
  return { ...attributes, cell_methods: before ? `${before} ${method}` : method };
}

/** Decodes attributes that stored integers of the other sign, if the new metadata has no `_Unsigned`. */
function asMeant({ from, metadata }: ChangedArray, attributes: JsonObject): JsonObject {
  const before = from.metadata;
  if (before.kind === "group" || Object.hasOwn(metadata.attributes, "_Unsigned")) return attributes;
  const reread = packingOf(before.dataType, before.attributes)?.reread;
  if (reread === undefined) return attributes;
  const meant = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(meant);
    const number = value instanceof JsonNumber ? value.valueOf() : value;
    return typeof number === "number" && Number.isSafeInteger(number)
      ? Number(rereadInteger(number, reread))
      : value;
  };
  const names = VALUES.filter((name) => Object.hasOwn(attributes, name));
  if (names.length === 0) return attributes;
  return {
    ...attributes,
    ...Object.fromEntries(names.map((name) => [name, meant(attributes[name] ?? null)])),
  };
}

/** Attributes of the valid range (CF, section 2.5.1), and whether each number is a lower or an upper end. */
const RANGES: readonly (readonly [name: string, ends: readonly ("least" | "most")[]])[] = [
  ["valid_min", ["least"]],
  ["valid_max", ["most"]],
  ["valid_range", ["least", "most"]],
];

/** Widens the valid range of shifted numbers, within the limits of their data type. */
function withWiderRange(node: ChangedArray, attributes: JsonObject, change: GridChange): JsonObject {
  const { shift } = node.placing ?? {};
  const names = RANGES.filter(([name]) => Object.hasOwn(attributes, name));
  if (shift === undefined || names.length === 0) return attributes;
  const added = shift.runs.map(({ add }) => add);
  const by = { least: Math.min(...added), most: Math.max(...added) };
  const { dataType } = node.metadata;
  const [lowest, highest] = limitsOf(dataType);
  const isReread = packingOf(dataType, attributes)?.reread !== undefined;
  const widened: JsonObject = { ...attributes };
  for (const [name, ends] of names) {
    const old = attributes[name];
    const list = Array.isArray(old) ? old : [old ?? null];
    const numbers = list.map((one) => numberIn(one));
    if (isReread || numbers.length !== ends.length || numbers.includes(undefined)) {
      delete widened[name];
      change.note(node, `\`${name}\` dropped: it cannot be computed for shifted values`);
      continue;
    }
    const wide = ends.map((end, i) => Math.max(lowest, Math.min(highest, (numbers[i] ?? 0) + by[end])));
    const written = writtenLike(wide, list);
    widened[name] = Array.isArray(old) ? written : (written[0] ?? null);
  }
  return widened;
}

function limitsOf({ kind, ...type }: ChangedArray["metadata"]["dataType"]): readonly [number, number] {
  if ((kind !== "int" && kind !== "uint") || !("size" in type) || type.size === undefined || type.size > 4)
    return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const bits = 8 * type.size;
  return kind === "int" ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
}

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
