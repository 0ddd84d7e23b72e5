import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { ancestorPaths, folderOf, joinKey } from "../../../util/node-path.ts";
import { isJsonObject, member } from "../../assert-json.ts";
import { gridMappingsOf } from "../cf/references.ts";
import {
  type ChangedArray,
  type ChangedNode,
  type Convention,
  type GridChange,
  isArray,
  withAttributes,
} from "../convention.ts";
import { numberList, numbersInText, textLike, writtenLike } from "./numbers.ts";
import {
  type AxisChange,
  arraysDescribedBy,
  keepsExtent,
  type RasterChange,
  type SharedChange,
  sharedChange,
} from "./raster-change.ts";

/** Names of the members that describe a raster's location; those that a form lacks are absent. */
interface RasterForm {
  /**
   * Six coefficients in the order of Python's rasterio, `x = a col + b row + c`, `y = d col + e row + f`, or nine
   * including the last row.
   */
  readonly transform?: string;
  /** The first six coefficients in the order of GDAL, `c a b f d e`, as text. */
  readonly geoTransform?: string;
  /** Height and width. */
  readonly shape?: string;
  /** Least x and y, greatest x and y. */
  readonly bbox?: string;
  /** Size of a cell along x and y. */
  readonly resolution?: string;
  /** Names of the dimensions of y and x. */
  readonly dimensions?: string;
  /** `node` if coefficients refer to the centers of cells instead of their corners. */
  readonly registration?: string;
  /** `affine`, unless coefficients mean something else. */
  readonly type?: string;
  /** Outlines and similar members, which are removed. */
  readonly others?: readonly string[];
}

const SPATIAL: RasterForm = {
  transform: "spatial:transform",
  shape: "spatial:shape",
  bbox: "spatial:bbox",
  dimensions: "spatial:dimensions",
  registration: "spatial:registration",
  type: "spatial:transform_type",
};

/** Forms directly among the attributes: those of zarr-conventions, STAC and EOPF, GDAL, and rasterio. */
const FORMS: readonly RasterForm[] = [
  SPATIAL,
  {
    transform: "proj:transform",
    shape: "proj:shape",
    bbox: "proj:bbox",
    others: ["proj:geometry", "proj:centroid"],
  },
  { geoTransform: "GeoTransform" },
  { transform: "transform", resolution: "res" },
];

/** Objects among the attributes, in older forms of today's `proj:` and `spatial:`. */
const OBJECTS: readonly { readonly path: readonly string[]; readonly form: RasterForm }[] = [
  { path: ["geo:proj"], form: { transform: "transform", bbox: "bbox", dimensions: "spatial_dims" } },
  { path: ["geo", "proj"], form: { transform: "transform", bbox: "bbox", dimensions: "spatial_dimensions" } },
];

/**
 * Location of rasters, as coefficients, shape or bounding box: `GeoTransform` of grid mappings, `spatial:` and
 * `proj:` of arrays and of groups. Updates them so that each cell keeps the location of its item, or of the block
 * that it was made from.
 */
export const rasters: Convention = {
  name: "rasters",
  ofOthers: /^(?:GeoTransform|grid_mapping|(?:spatial|proj):|geo(?::proj)?$)/,
  follow(nodes, change) {
    const mapped = arraysByMapping(nodes);
    return nodes.map((node) => {
      const arrays = () => mapped.get(node.path) ?? arraysOf(node, nodes);
      return withAttributes(node, followed(node, arrays, change));
    });
  },
};

/** The arrays that a node's attributes describe. */
function arraysOf(node: ChangedNode, nodes: readonly ChangedNode[]): readonly ChangedArray[] {
  if (!isArray(node)) return arraysDescribedBy(node, nodes);
  if (node.metadata.shape.length >= 2) return [node];
  const group = folderOf(node.path);
  const parent = nodes.find(({ path }) => path === group);
  return parent && parent !== node ? arraysDescribedBy(parent, nodes) : [];
}

/** The arrays that use each grid mapping, by the mapping's path. */
function arraysByMapping(nodes: readonly ChangedNode[]): ReadonlyMap<string, readonly ChangedArray[]> {
  const paths = new Set(nodes.map(({ path }) => path));
  const mapped = new Map<string, ChangedArray[]>();
  for (const node of nodes) {
    if (!isArray(node)) continue;
    for (const name of gridMappingsOf(node.metadata.attributes)) {
      const found = ancestorPaths(node.path)
        .toReversed()
        .map((group) => joinKey(group, name))
        .find((path) => paths.has(path));
      if (found === undefined) continue;
      const arrays = mapped.get(found) ?? [];
      arrays.push(node);
      mapped.set(found, arrays);
    }
  }
  return mapped;
}

function followed(node: ChangedNode, arrays: () => readonly ChangedArray[], change: GridChange): JsonObject {
  let { attributes } = node.metadata;
  for (const form of FORMS) {
    if (!isFormOf(form, attributes)) continue;
    attributes = followForm(attributes, form, node, { arrays: arrays(), change });
  }
  for (const { path, form } of OBJECTS) {
    const [outer = "", inner] = path;
    const object = member(attributes, outer);
    const own = isJsonObject(object) && inner !== undefined ? member(object, inner) : object;
    if (!isJsonObject(own) || !isFormOf(form, own)) continue;
    const now = followForm(own, form, node, { arrays: arrays(), change });
    if (now === own) continue;
    attributes = {
      ...attributes,
      [outer]: isJsonObject(object) && inner !== undefined ? { ...object, [inner]: now } : now,
    };
  }
  return attributes;
}

/** True if an object uses a form; a lone `transform` counts only if it is a list of coefficients. */
function isFormOf({ transform, geoTransform, shape, bbox, others = [] }: RasterForm, object: JsonObject) {
  if (transform === "transform" && numberList(member(object, "transform"), 6, 9) === undefined)
    return bbox !== undefined && member(object, bbox) !== undefined;
  return [transform, geoTransform, shape, bbox, ...others].some(
    (name) => name !== undefined && member(object, name) !== undefined,
  );
}

/** Updates the members of a form to match the rasters that they describe. */
export function followForm(
  object: JsonObject,
  form: RasterForm,
  node: ChangedNode,
  { arrays, change }: { readonly arrays: readonly ChangedArray[]; readonly change: GridChange },
): JsonObject {
  const names = form.dimensions === undefined ? undefined : member(object, form.dimensions);
  const [y, x] = Array.isArray(names) ? names : [];
  const named = typeof y === "string" && typeof x === "string" ? ([y, x] as const) : undefined;
  const shared = sharedChange(arrays, named);
  if (shared === undefined) return object;
  const next: JsonObject = { ...object };
  const lost: string[] = [];
  for (const [name, value] of Object.entries(newMembers(object, form, shared))) {
    if (value === undefined) {
      delete next[name];
      lost.push(`\`${name}\``);
    } else next[name] = value;
  }
  if (lost.length > 0) {
    const why =
      shared === "differs"
        ? "arrays that it describes are sliced differently"
        : "it cannot be computed for the new grid";
    change.note(node, `${lost.join(", ")} dropped: ${why}`);
  }
  return next;
}

export { SPATIAL };

/** New values of members; undefined for members to remove. */
function newMembers(
  object: JsonObject,
  form: RasterForm,
  shared: Exclude<SharedChange, undefined>,
): Readonly<Record<string, JsonValue | undefined>> {
  const stated = (name: string | undefined) => (name === undefined ? undefined : member(object, name));
  const type = stated(form.type);
  const isNode = stated(form.registration) === "node";
  const read = type === undefined || type === "affine" ? coefficientsIn(object, form) : undefined;
  const raster = shared === "differs" ? undefined : shared;
  const moved = raster && read && movedCoefficients(read, raster, isNode);
  const made: Record<string, JsonValue | undefined> = {};
  const make = (name: string | undefined, value: () => JsonValue | undefined) => {
    if (name !== undefined && stated(name) !== undefined) made[name] = value();
  };
  make(form.transform, () => {
    const old = stated(form.transform);
    return moved && writtenLike(Array.isArray(old) && old.length === 9 ? [...moved, 0, 0, 1] : moved, old);
  });
  make(form.geoTransform, () => {
    const old = stated(form.geoTransform);
    if (moved === undefined) return undefined;
    const [a, b, c, d, e, f] = moved;
    const gdal = [c, a, b, f, d, e];
    return typeof old === "string" ? textLike(gdal, old) : writtenLike(gdal, old);
  });
  make(form.shape, () => raster && writtenLike([raster.y.after, raster.x.after], stated(form.shape)));
  make(form.resolution, () => {
    const old = stated(form.resolution);
    const [width, height] = numberList(old, 2) ?? [];
    if (raster === undefined || width === undefined || height === undefined) return undefined;
    return writtenLike([width * raster.x.step, height * raster.y.step], old);
  });
  make(form.bbox, () => {
    const old = stated(form.bbox);
    if (raster && keepsExtent(raster.x) && keepsExtent(raster.y)) return old;
    const box = numberList(old, 4);
    if (raster === undefined || read === undefined || moved === undefined || box === undefined)
      return undefined;
    const was = boxOf(read, raster, "before", isNode);
    const cell = Math.max(...[read[0], read[1], read[3], read[4]].map(Math.abs));
    const isOfRaster = was.every((at, i) => Math.abs(at - (box[i] ?? Number.NaN)) <= cell * 1.5);
    return isOfRaster ? writtenLike(boxOf(moved, raster, "after", isNode), old) : undefined;
  });
  for (const name of form.others ?? []) make(name, () => undefined);
  return made;
}

type Coefficients = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

function coefficientsIn(object: JsonObject, form: RasterForm): Coefficients | undefined {
  if (form.transform !== undefined) {
    const [a, b, c, d, e, f] = numberList(member(object, form.transform), 6, 9) ?? [];
    return f === undefined ? undefined : ([a, b, c, d, e, f] as Coefficients);
  }
  const stated = form.geoTransform === undefined ? undefined : member(object, form.geoTransform);
  const numbers = typeof stated === "string" ? numbersInText(stated, 6) : numberList(stated, 6);
  const [c, a, b, f, d, e] = numbers ?? [];
  return e === undefined ? undefined : ([a, b, c, d, e, f] as Coefficients);
}

/** Coefficients of the new grid, which refer to corners of cells, or to centers if `isNode`. */
function movedCoefficients(
  [a, b, c, d, e, f]: Coefficients,
  { x, y }: RasterChange,
  isNode: boolean,
): Coefficients {
  const shift = ({ start, step }: AxisChange) => (isNode ? start : start + 0.5 - step / 2);
  const [col, row] = [shift(x), shift(y)];
  const [left, top] = [c + a * col + b * row + x.degrees, f + d * col + e * row + y.degrees];
  return [a * x.step, b * y.step, left, d * x.step, e * y.step, top].map(
    (number) => number + 0,
  ) as unknown as Coefficients;
}

function boxOf(
  [a, b, c, d, e, f]: Coefficients,
  { x, y }: RasterChange,
  when: "before" | "after",
  isNode: boolean,
): number[] {
  const [width, height] = [x, y].map((axis) => axis[when] - (isNode ? 1 : 0));
  const corners = [0, width ?? 0].flatMap((col) => [0, height ?? 0].map((row) => [col, row] as const));
  const xs = corners.map(([col, row]) => a * col + b * row + c);
  const ys = corners.map(([col, row]) => d * col + e * row + f);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}
