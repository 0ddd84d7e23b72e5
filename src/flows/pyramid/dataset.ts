import type { ZarrArray, ZarrGroup } from "../../hierarchy/node.ts";
import { children } from "../../hierarchy/open/walk.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { belowPath } from "../../util/node-path.ts";
import { product } from "../../util/shape.ts";
import { blockOffset, type LevelShape } from "./pyramid-options.ts";
import { type ChosenMethod, lacksNone, methodOfImage, type PyramidMethod } from "./reduce-blocks.ts";

type Plain = { readonly [name: string]: unknown };

/** An array of a geographic dataset, and its role in the pyramid. */
export interface DatasetArray {
  readonly name: string;
  readonly array: ZarrArray;
  readonly dimensions: readonly string[];
  /** How it shrinks: as requested, or as suits its values; undefined for arrays without spatial dimensions. */
  readonly method: PyramidMethod | undefined;
  /** Reason for the method. */
  readonly reason?: string;
  /** True if no item is missing, even those equal to the fill value. */
  readonly lacksNone?: boolean;
  /**
   * `coordinate` for coordinates of a spatial dimension; `bounds` for bounds of its cells, two per cell; `corners` for
   * bounds in any other form, which only the first level has.
   */
  readonly role: "variable" | "coordinate" | "bounds" | "corners";
}

/** A geographic dataset: a group of arrays with dimension names, some of them spatial. */
export interface Dataset {
  readonly arrays: readonly DatasetArray[];
  /** Names of the spatial dimensions. */
  readonly spatial: readonly string[];
  /** For each spatial dimension: its length, and the chunk size of the largest array that has it. */
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Names of subgroups, which the pyramid leaves out. */
  readonly groupsLeft: readonly string[];
}

const SPATIAL_NAMES =
  /^(?:x|y|lon|lat|longitude|latitude|easting|northing|rlon|rlat|grid_longitude|grid_latitude|projection_[xy]_coordinate)$/i;
const SPATIAL_STANDARD_NAMES =
  /^(?:longitude|latitude|grid_longitude|grid_latitude|projection_[xy]_coordinate)$/;
const SPATIAL_UNITS = /^degrees?_?(?:north|east|N|E)$/;

/**
 * Finds the arrays of a geographic dataset, and its spatial dimensions: by their names, or by the attributes of their
 * coordinates.
 *
 * @throws `invalid-option` for a group without spatial dimensions, or in which one has different lengths
 */
export async function datasetOf(
  root: ZarrGroup,
  { asked, labels, signal }: DatasetOptions,
): Promise<Dataset> {
  const arrays = new Map<string, ZarrArray>();
  const groupsLeft: string[] = [];
  for await (const node of children(root, { signal })) {
    const name = belowPath(root.path, node.path);
    if (node.kind === "array") arrays.set(name, node);
    else groupsLeft.push(name);
  }
  const all = [...arrays.values()];
  const dimensions = new Set(
    all.flatMap(({ dimensionNames }) => dimensionNames ?? []).filter((name) => name !== null),
  );
  const spatial = [...dimensions].filter((name) => isSpatial(name, arrays.get(name)));
  if (spatial.length === 0) {
    throw new ZarrflowError(
      "invalid-option",
      "the group contains neither an image nor arrays with spatial dimensions",
      {
        path: root.path,
        expected: "OME-Zarr metadata, or dimensions such as latitude and longitude, or y and x",
        found: [...dimensions].join(", ") || "no dimension names",
        hint: "Name one array; if its dimensions have other names, add --axes.",
      },
    );
  }
  const named = (attribute: string) =>
    new Set(all.flatMap(({ attributes }) => String(attributes[attribute] ?? "").split(/\s+/)));
  const [coordinates, bounds] = [named("coordinates"), named("bounds")];
  const described = [...arrays].map(([name, array]): DatasetArray => {
    const own = array.shape.map((_, d) => array.dimensionNames?.[d] ?? "");
    const isCoordinate = own.length === 1 && own[0] === name;
    const shrinks = own.some((dimension) => spatial.includes(dimension));
    const arePairs = array.shape.length === 2 && array.shape[1] === 2 && spatial.includes(own[0] ?? "");
    const role = isCoordinate
      ? "coordinate"
      : bounds.has(name)
        ? arePairs
          ? "bounds"
          : "corners"
        : "variable";
    const described = { name, array, dimensions: own };
    if (!shrinks) return { ...described, method: undefined, role: "variable" };
    const isPlace = role !== "variable" || coordinates.has(name);
    const chosen = isPlace ? methodOfPlace(role, asked) : methodOfVariable(array, { asked, labels });
    return { ...described, ...chosen, lacksNone: !isPlace && lacksNone(array, labels), role };
  });
  return { arrays: described, spatial, groupsLeft, ...sizesOf(described, spatial) };
}

interface DatasetOptions {
  /** The requested method. */
  readonly asked: PyramidMethod | undefined;
  /** Why all arrays are labels; undefined if they are not. */
  readonly labels: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Method for coordinates and bounds: the middle of a block, or its first item. */
function methodOfPlace(role: DatasetArray["role"], asked: PyramidMethod | undefined): ChosenMethod {
  if (asked === "nearest") return { method: asked, reason: "as asked" };
  return { method: "mean", reason: PLACES[role] };
}

const PLACES: Readonly<Record<DatasetArray["role"], string>> = {
  variable: "named in `coordinates`",
  coordinate: "a coordinate",
  bounds: "bounds",
  corners: "bounds",
};

/** The requested method applies to all variables, but classes have no mean. */
function methodOfVariable(
  array: ZarrArray,
  { asked, labels }: Pick<DatasetOptions, "asked" | "labels">,
): ChosenMethod {
  const usual = methodOfImage(array, { asked: undefined, labels });
  return asked === undefined || (asked === "mean" && usual.method !== asked)
    ? usual
    : { method: asked, reason: "as asked" };
}

function isSpatial(name: string, coordinate: ZarrArray | undefined): boolean {
  if (SPATIAL_NAMES.test(name)) return true;
  if (coordinate?.shape.length !== 1) return false;
  const { standard_name: standard, units, axis } = coordinate.attributes;
  return (
    SPATIAL_STANDARD_NAMES.test(String(standard)) ||
    SPATIAL_UNITS.test(String(units)) ||
    axis === "X" ||
    axis === "Y"
  );
}

function sizesOf(
  arrays: readonly DatasetArray[],
  spatial: readonly string[],
): Pick<Dataset, "shape" | "chunkShape"> {
  const sizes = spatial.map((name) => {
    const having = arrays.filter(({ dimensions }) => dimensions.includes(name));
    const of = (shape: (array: ZarrArray) => readonly number[]) =>
      having.map(({ array, dimensions }) => shape(array)[dimensions.indexOf(name)] ?? 1);
    const lengths = new Set(of(({ shape }) => shape));
    if (lengths.size > 1) {
      throw new ZarrflowError(
        "invalid-option",
        `dimension \`${name}\` has different lengths in arrays of the group`,
        {
          found: [...lengths].join(", "),
        },
      );
    }
    // of the largest array, because coordinates often are a single chunk
    const largest = having.reduce((a, b) => (product(b.array.shape) > product(a.array.shape) ? b : a));
    const chunk = largest.array.chunkShape[largest.dimensions.indexOf(name)] ?? 1;
    return { length: [...lengths][0] ?? 1, chunk };
  });
  return { shape: sizes.map(({ length }) => length), chunkShape: sizes.map(({ chunk }) => chunk) };
}

/** The levels of one array of the dataset, from the levels of the spatial dimensions. */
export function levelsOfArray(
  { array, dimensions }: DatasetArray,
  { spatial }: Pick<Dataset, "spatial">,
  levels: readonly LevelShape[],
): LevelShape[] {
  return levels.map((level) => {
    const of = (values: readonly number[], other: (d: number) => number) =>
      dimensions.map((name, d) => values[spatial.indexOf(name)] ?? other(d));
    return {
      shape: of(level.shape, (d) => array.shape[d] ?? 1),
      factors: of(level.factors, () => 1),
      scale: of(level.scale, () => 1),
    };
  });
}

const CONVENTION = {
  schema_url: "https://raw.githubusercontent.com/zarr-conventions/multiscales/refs/tags/v1/schema.json",
  spec_url: "https://github.com/zarr-conventions/multiscales/blob/v1/README.md",
  uuid: "d35379db-88df-4056-af3a-620245f8e347",
  name: "multiscales",
  description: "Multiscale layout of zarr datasets",
} as const;

/**
 * Attributes of the pyramid's group, in the proposed GeoZarr convention `multiscales`. Each level is derived from the
 * first, so that its scale is correct whether readers treat it as relative or as absolute. Scale and translation are in
 * items of the first level, along the spatial dimensions in the order of `spatial_dimensions`.
 */
export function datasetAttributes(
  given: Plain,
  { spatial }: Pick<Dataset, "spatial">,
  { levels, method }: { readonly levels: readonly LevelShape[]; readonly method: PyramidMethod },
): Plain {
  const { zarr_conventions: conventions, ...attributes } = given as { zarr_conventions?: unknown };
  const others = (Array.isArray(conventions) ? conventions : []).filter(
    (one: Plain) => one?.uuid !== CONVENTION.uuid,
  );
  const layout = levels.map(({ scale }, i) => ({
    asset: `${i}`,
    ...(i > 0 && { derived_from: "0" }),
    transform: { scale, translation: scale.map((n) => blockOffset(n, method)) },
  }));
  const resampling = method === "mean" ? "average" : method;
  return {
    ...attributes,
    zarr_conventions: [...others, CONVENTION],
    multiscales: { layout, resampling_method: resampling, spatial_dimensions: spatial },
  };
}
