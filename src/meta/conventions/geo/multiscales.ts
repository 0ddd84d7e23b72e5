import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { joinKey } from "../../../util/node-path.ts";
import { FULL_TURN } from "../../../util/numbers.ts";
import { isJsonObject, member } from "../../assert-json.ts";
import { otherNames } from "../../documents.ts";
import {
  type ChangedArray,
  type ChangedNode,
  type Convention,
  type GridChange,
  isArray,
  withAttributes,
} from "../convention.ts";
import { numberList, writtenLike } from "./numbers.ts";
import {
  type AxisChange,
  arraysDescribedBy,
  parentIs,
  rasterAxes,
  type SharedChange,
  sharedChange,
} from "./raster-change.ts";
import { followForm, SPATIAL } from "./rasters.ts";

const MULTISCALES = "multiscales";
/** Members of GeoZarr up to 0.4, whose levels are OGC tile matrices. */
const TILE_MATRICES = ["tile_matrix_set", "tile_matrix_limits"];

/**
 * Levels of a geographic dataset: `multiscales` of zarr-conventions, and of GeoZarr up to 0.4 with tile matrices,
 * whose tiles are chunks. Levels that are not in the target are removed from its layout. If the relation between
 * levels is unknown, it is removed too.
 */
export const geoMultiscales: Convention = {
  name: "GeoZarr multiscales",
  ofOthers: /^multiscales$/,
  follow(nodes, change) {
    return nodes.map((node) => {
      const { attributes, kind } = node.metadata;
      const multiscales = member(attributes, MULTISCALES);
      if (kind === "array" || !isJsonObject(multiscales)) return node;
      const levels = new Levels(node, nodes, change);
      const now = levels.tiles(levels.layout(multiscales));
      if (now === multiscales) return node;
      const isEmpty = Object.keys(now).every((name) => name === "resampling_method");
      const rest = otherNames(attributes, [MULTISCALES]);
      return withAttributes(
        node,
        isEmpty ? withoutRegistration(rest) : { ...attributes, [MULTISCALES]: now },
      );
    });
  },
};

/** Removes the convention from the list of registered conventions. */
function withoutRegistration(attributes: JsonObject): JsonObject {
  const { zarr_conventions: list } = attributes;
  if (!Array.isArray(list)) return attributes;
  const others = list.filter((one) => !isJsonObject(one) || member(one, "name") !== MULTISCALES);
  return { ...attributes, zarr_conventions: others };
}

class Levels {
  readonly #group: ChangedNode;
  readonly #nodes: readonly ChangedNode[];
  readonly #change: GridChange;

  constructor(group: ChangedNode, nodes: readonly ChangedNode[], change: GridChange) {
    this.#group = group;
    this.#nodes = nodes;
    this.#change = change;
  }

  /** The arrays of a level, which is an array or a group of arrays. */
  #arraysOf(name: string): readonly ChangedArray[] {
    const path = joinKey(this.#group.path, name);
    const node = this.#nodes.find((one) => one.path === path);
    if (node === undefined) return [];
    return isArray(node) ? [node] : arraysDescribedBy(node, this.#nodes);
  }

  layout(multiscales: JsonObject): JsonObject {
    const layout = member(multiscales, "layout");
    if (!Array.isArray(layout)) return multiscales;
    const text = (entry: JsonValue, name: string) => {
      const value = isJsonObject(entry) ? member(entry, name) : undefined;
      return typeof value === "string" ? value : undefined;
    };
    const isGone = (name: string | undefined) =>
      name !== undefined && this.#change.isGone(joinKey(this.#group.path, name));
    const kept = layout.filter((entry) => !isGone(text(entry, "asset")));
    const gone = layout.length - kept.length;
    const next = kept.map((entry): JsonValue => {
      const [asset, source] = [text(entry, "asset"), text(entry, "derived_from")];
      if (!isJsonObject(entry) || asset === undefined) return entry;
      const arrays = this.#arraysOf(asset);
      const placed = followForm(entry, SPATIAL, this.#group, { arrays, change: this.#change });
      if (source === undefined) return placed;
      if (isGone(source)) return otherNames(placed, RELATIVE);
      return this.#moved(placed, { arrays, source: this.#arraysOf(source), multiscales });
    });
    if (gone > 0) this.#note(`${gone} of ${layout.length} levels`, "they are not in the target");
    if (gone === 0 && next.every((entry, i) => entry === layout[i])) return multiscales;
    return kept.length > 0 ? { ...multiscales, layout: next } : otherNames(multiscales, ["layout"]);
  }

  /**
   * Updates the transform of a level relative to the one that it is derived from; removes it if it cannot be
   * computed.
   */
  #moved(entry: JsonObject, { arrays, source, multiscales }: RelatedLevels): JsonObject {
    const stated = member(this.#group.from.metadata.attributes, MULTISCALES);
    const named = dimensionsIn(multiscales, this.#group.metadata.attributes);
    const [own, of] = [sharedChange(arrays, named), sharedChange(source, named)];
    if (stated !== multiscales || (own === undefined && of === undefined)) return entry;
    const transform = member(entry, "transform");
    const moved = isJsonObject(transform) ? movedTransform(transform, own, of) : undefined;
    if (moved) return { ...entry, transform: moved };
    this.#note("how its levels fit each other", "it cannot be computed");
    return otherNames(entry, RELATIVE);
  }

  #note(lost: string, why: string): void {
    this.#change.note(this.#group, `\`${MULTISCALES}\`: ${lost} dropped: ${why}`);
  }

  /** Updates tile matrices to the new chunks if only chunks change; otherwise removes them. */
  tiles(multiscales: JsonObject): JsonObject {
    const set = member(multiscales, "tile_matrix_set");
    if (set === undefined) return multiscales;
    const arrays = this.#nodes.filter(isArray).filter(({ path, from }) => {
      return parentIs(path, this.#group.path, true) && !isOwn(from.path, path, this.#group);
    });
    const isMoved = arrays.some((array) => sharedChange([array]) !== undefined);
    const matrices = isJsonObject(set) ? member(set, "tileMatrices") : undefined;
    if (isMoved) return this.#withoutTiles(multiscales, "the data is sliced or resampled");
    if (!isJsonObject(set) || !Array.isArray(matrices)) return multiscales;
    const next: JsonValue[] = [];
    for (const matrix of matrices) {
      const id = isJsonObject(matrix) ? member(matrix, "id") : undefined;
      const arraysOfLevel = typeof id === "string" ? this.#arraysOf(id) : [];
      const tiled = isJsonObject(matrix) ? inChunks(matrix, arraysOfLevel) : matrix;
      if (tiled === undefined)
        return this.#withoutTiles(multiscales, "arrays of a level have different chunks");
      next.push(tiled);
    }
    if (next.every((matrix, i) => matrix === matrices[i])) return multiscales;
    const others = otherNames(multiscales, ["tile_matrix_limits"]);
    return { ...others, tile_matrix_set: { ...set, tileMatrices: next } };
  }

  #withoutTiles(multiscales: JsonObject, why: string): JsonObject {
    const lost = TILE_MATRICES.filter((name) => Object.hasOwn(multiscales, name));
    this.#note(lost.map((name) => `\`${name}\``).join(", "), why);
    return otherNames(multiscales, lost);
  }
}

/**
 * True if an array in a level was in the group itself before. A pyramid creates such levels with their own layout.
 */
function isOwn(from: string, path: string, group: ChangedNode): boolean {
  return !parentIs(path, group.path) && parentIs(from, group.from.path);
}

/** Members of a level that relate it to another level. */
const RELATIVE = ["derived_from", "transform"];

interface RelatedLevels {
  readonly arrays: readonly ChangedArray[];
  readonly source: readonly ChangedArray[];
  readonly multiscales: JsonObject;
}

/** The dimensions that a transform refers to, if stated. */
function dimensionsIn(
  multiscales: JsonObject,
  attributes: JsonObject,
): readonly [string, string] | undefined {
  const stated = member(multiscales, "spatial_dimensions") ?? member(attributes, "spatial:dimensions");
  const [y, x] = Array.isArray(stated) ? stated : [];
  return typeof y === "string" && typeof x === "string" ? [y, x] : undefined;
}

const WHOLE = { start: 0, step: 1, before: 0, degrees: 0 };

/** Recomputes the scale and translation between two levels after both were cut. */
function movedTransform(transform: JsonObject, own: SharedChange, of: SharedChange): JsonObject | undefined {
  const scale = numberList(member(transform, "scale"), 2);
  const translation = numberList(member(transform, "translation") ?? [0, 0], 2);
  if (scale === undefined || translation === undefined || own === "differs" || of === "differs")
    return undefined;
  const moved = (["y", "x"] as const).map((axis, i) => {
    const [taken, base] = [own?.[axis] ?? WHOLE, of?.[axis] ?? WHOLE];
    const at = (translation[i] ?? 0) + startOf(taken) * (scale[i] ?? 1);
    return {
      scale: ((scale[i] ?? 1) * taken.step) / base.step,
      translation: (at - startOf(base)) / base.step,
    };
  });
  return {
    ...transform,
    scale: writtenLike(
      moved.map((one) => one.scale),
      member(transform, "scale"),
    ),
    translation: writtenLike(
      moved.map((one) => one.translation),
      member(transform, "translation"),
    ),
  };
}

/** First item of the cut, counting each full turn of longitude as another `before` items. */
function startOf({ start, before, degrees }: Omit<AxisChange, "after" | "step">): number {
  return start + (before * degrees) / FULL_TURN;
}

/**
 * Updates a tile matrix in which each tile was a chunk, so that it describes the new chunks; undefined if the new
 * chunks differ in shape.
 */
function inChunks(matrix: JsonObject, arrays: readonly ChangedArray[]): JsonObject | undefined {
  const tile = [member(matrix, "tileHeight"), member(matrix, "tileWidth")].map(Number);
  const rasters = arrays.flatMap(({ metadata, from }) => {
    const axes = rasterAxes(metadata);
    const before = from.metadata;
    if (axes === undefined || before.kind === "group") return [];
    const of = ({ chunkGrid: { innerChunkShape, chunkShape } }: typeof before) =>
      axes.map((d) => (innerChunkShape ?? chunkShape)[d] ?? 1);
    return [{ before: of(before), after: of(metadata), shape: axes.map((d) => metadata.shape[d] ?? 1) }];
  });
  const tiled = rasters.filter(({ before }) => `${before}` === `${tile}`);
  const [first] = tiled;
  if (first === undefined || tiled.every(({ before, after }) => `${before}` === `${after}`)) return matrix;
  if (rasters.some(({ after }) => `${after}` !== `${first.after}`)) return undefined;
  const [height = 1, width = 1] = first.after;
  const [rows = 1, columns = 1] = first.shape;
  return {
    ...matrix,
    ...{ tileWidth: width, tileHeight: height },
    ...{ matrixWidth: Math.ceil(columns / width), matrixHeight: Math.ceil(rows / height) },
  };
}
