import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { imageAbove } from "../../hierarchy/open/open-via-ancestor.ts";
import { isJsonObject, member } from "../../meta/assert-json.ts";
import {
  coordinateSystemOf,
  type Level,
  type Multiscale,
  multiscalesOf,
  OME,
  objectsIn,
  statedAxes,
  transformationPaths,
} from "../../meta/conventions/ome/attributes.ts";
import { placementOf, placing } from "../../meta/conventions/ome/placement.ts";
import { omeVersion, V2_VERSION, V3_VERSION } from "../../meta/conventions/ome/versions.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import { joinKey } from "../../util/node-path.ts";
import { blockOffset, type LevelShape } from "./pyramid-options.ts";

/** The source image of a pyramid. */
export interface Image {
  readonly array: ZarrArray;
  /** The group that describes it; undefined for a single array. */
  readonly group: ZarrGroup | undefined;
  /** Number of images in the group. */
  readonly count: number;
  readonly axes: readonly JsonObject[];
  /** Position of the array's items. */
  readonly scale: readonly number[];
  readonly translation: readonly number[];
  /** OME-Zarr version of its description; undefined for a single array. */
  readonly words: ReturnType<typeof omeVersion> | undefined;
  /** Its description in the group; empty for a single array. */
  readonly multiscale: JsonObject;
  /** The transformations of the array as stated. */
  readonly transformations: readonly JsonValue[];
}

const SPACE = ["z", "y", "x"];
const AXES_BY_RANK: Readonly<Record<number, string>> = { 2: "yx", 3: "zyx", 4: "czyx", 5: "tczyx" };
const TYPES: Readonly<Record<string, string>> = {
  t: "time",
  c: "channel",
  z: "space",
  y: "space",
  x: "space",
};
const LONG_NAMES: Readonly<Record<string, string>> = { time: "t", channel: "c" };

/**
 * Returns the first image of a group; the image that an array is a level of, from that level on; or an array as an
 * image. Undefined for a group without images.
 *
 * @param axes names of its axes, if they are not stated
 * @throws `invalid-option` for unknown axes, or axes other than the stated ones; `invalid-metadata` for an image whose
 *   axes do not match its array; `unsupported-operation` for an unknown version or unknown transformations
 */
export async function imageOf(
  root: ZarrNode,
  { axes, signal }: { readonly axes?: string | undefined; readonly signal?: AbortSignal | undefined },
): Promise<Image | undefined> {
  const above = root.kind === "array" ? await imageAbove(root, signal) : undefined;
  if (root.kind === "array" && above === undefined) return imageOfArray(root, axes);
  const group = above?.group ?? root;
  if (group.kind === "array") return undefined;
  const images = multiscalesOf(group.metadata.attributes);
  const image = above?.image ?? images[0];
  const level = above?.level ?? image?.levels[0];
  if (image === undefined || level === undefined) return undefined;
  const words = omeVersion(group.metadata.attributes);
  const array = await openLevel(group, level, signal);
  const described = describedAxes(image, array);
  const names = described.map(({ name }) => String(name));
  if (axes !== undefined && axes !== names.join("")) {
    throw new ZarrflowError("invalid-option", "the image states different axes", {
      path: group.path,
      expected: names.join(""),
      found: axes,
      hint: "Omit --axes (in code axes), which is only for arrays that are not part of an image.",
    });
  }
  const rank = array.shape.length;
  const { scale = array.shape.map(() => 1), translation = array.shape.map(() => 0) } =
    placementOf(level.transformations, rank) ?? {};
  assertCarried(group, image);
  return {
    ...{ array, group, words, scale, translation },
    count: images.length,
    axes: described,
    multiscale: image.stated,
    transformations: Array.isArray(level.transformations) ? level.transformations : [],
  };
}

async function openLevel(
  group: ZarrGroup,
  level: Level,
  signal: AbortSignal | undefined,
): Promise<ZarrArray> {
  const { store, spec, reading, layout } = group;
  const path = joinKey(group.path, level.path);
  const array = await openNode(store, path, { ...reading, spec, zarrFormat: layout.zarrFormat, signal });
  if (array?.kind === "array") return array;
  throw new ZarrflowError("not-found", "the first level of the image does not exist", { path });
}

/** The axes of an image as stated, which must match its array. @throws `invalid-metadata` */
function describedAxes(image: Multiscale, array: ZarrArray): JsonObject[] {
  const names = image.axes ?? (statedAxes(image.stated) ? [] : [...axesByRank(array)]);
  const stored = array.layout.zarrFormat === "v3" ? array.dimensionNames : undefined;
  const isElsewhere = stored?.some((name, d) => name !== names[d] && name !== null && names.includes(name));
  if (names.length !== array.shape.length || isElsewhere) {
    const dimensions = array.dimensionNames?.map((name) => name ?? "(no name)").join(", ");
    throw new ZarrflowError("invalid-metadata", "the axes of the image do not match those of its array", {
      path: array.path,
      expected: dimensions ?? `${array.shape.length} axes`,
      found: names.join(", ") || "axes without distinct names",
      hint: "Copy the array alone (`zarrflow copy`), and name the axes of the copy with --axes (in code axes).",
    });
  }
  const stated = statedAxes(image.stated) ?? [];
  return names.map((name, d) => {
    const axis = stated[d];
    return isJsonObject(axis) ? axis : axisNamed(name);
  });
}

/** Rejects images whose transformations refer to other nodes: a pyramid contains only the levels. */
function assertCarried({ path }: ZarrGroup, { stated }: Multiscale): void {
  const [other] = transformationPaths(member(stated, "coordinateTransformations"));
  if (other === undefined) return;
  throw new ZarrflowError(
    "unsupported-operation",
    `transformations of the image lead to \`${other}\`, which pyramids do not support`,
    { path, hint: "Copy the image without these `coordinateTransformations` first." },
  );
}

function imageOfArray(array: ZarrArray, given: string | undefined): Image {
  const names = array.dimensionNames?.map((name) => longName(name));
  const areKnown = names?.every((name) => Object.hasOwn(TYPES, name)) && new Set(names).size === names.length;
  const axes = given ? [...given] : areKnown ? names : names ? undefined : [...axesByRank(array)];
  const rank = array.shape.length;
  if (!(axes?.length === rank && areAxesOfImage(axes))) {
    throw new ZarrflowError("invalid-option", "the axes of the image are unknown", {
      path: array.path,
      expected:
        rank < 2 || rank > 5
          ? "an array of 2 to 5 dimensions"
          : `${rank} of t, c, z, y, x, in this order, including two or three of z, y, x`,
      found: given ?? array.dimensionNames?.map((name) => name ?? "(no name)").join(", ") ?? "no names",
      hint:
        rank < 2 || rank > 5
          ? "Name an image, one of its arrays, or the group of a geographic dataset."
          : "Pass them with --axes (in code axes), such as tyx. For a geographic dataset name the group.",
    });
  }
  const stored = names?.filter((name, d) => Object.hasOwn(TYPES, name) && name !== axes[d]) ?? [];
  if (given && stored.length > 0) {
    throw new ZarrflowError("invalid-option", "the dimensions of the array have different names", {
      path: array.path,
      expected: array.dimensionNames?.map((name) => name ?? "(no name)").join(", "),
      found: given,
      hint: "Omit --axes (in code axes), which is only for arrays that do not name their axes.",
    });
  }
  return {
    ...{ array, group: undefined, words: undefined, count: 1 },
    axes: axes.map(axisNamed),
    scale: axes.map(() => 1),
    translation: axes.map(() => 0),
    multiscale: {},
    transformations: [],
  };
}

/** True if names are valid axes in the order that OME-Zarr requires: time, then channel, then space. */
function areAxesOfImage(names: readonly string[]): boolean {
  const types = names.map((name) => TYPES[name]);
  const order = types.map((type) => ["time", "channel", "space"].indexOf(type ?? ""));
  const isInOrder = order.every((place, d) => place >= 0 && place >= (order[d - 1] ?? 0));
  const spaces = types.filter((type) => type === "space").length;
  return isInOrder && new Set(names).size === names.length && spaces >= 2;
}

function longName(name: string | null): string {
  if (name === null) return "";
  return Object.hasOwn(LONG_NAMES, name) ? (LONG_NAMES[name] ?? name) : name;
}

function axesByRank({ shape }: ZarrArray): string {
  return AXES_BY_RANK[shape.length] ?? "";
}

function axisNamed(name: string): JsonObject {
  return { name, ...(TYPES[name] && { type: TYPES[name] }) };
}

export function axisNames({ axes }: Image): string[] {
  return axes.map(({ name }) => String(name));
}

/** Axes that shrink: the spatial ones, by type or name. */
export function spatialAxes({ axes }: Image): string[] {
  const isSpace = ({ name, type }: JsonObject) =>
    type === "space" || (type === undefined && SPACE.includes(String(name)));
  return axes.filter(isSpace).map(({ name }) => String(name));
}

/**
 * OME-Zarr version of an image's pyramid. @throws `unsupported-operation` for a version that the format does not have
 */
export function versionOfPyramid({ words, array }: Image, to: "v2" | "v3"): "0.4" | "0.5" | "0.6" {
  if (to === "v3") return words === "0.6" ? words : V3_VERSION;
  if (words !== "0.6") return V2_VERSION;
  throw new ZarrflowError("unsupported-operation", "OME-Zarr 0.6 has no counterpart in Zarr v2", {
    path: array.path,
    hint: "Omit --to v2 (in code to) to write the pyramid as Zarr v3.",
  });
}

interface ImageWords {
  readonly version: ReturnType<typeof versionOfPyramid>;
  readonly method: string;
  /** Name of the image if none is stated. */
  readonly name: string;
  /** Attributes of the group that describes the image, in the pyramid's format; empty for a single array. */
  readonly attributes: JsonObject;
}

/** Attributes of a pyramid's group. */
export function imageAttributes(
  image: Image,
  levels: readonly LevelShape[],
  { version, method, name, attributes }: ImageWords,
): JsonObject {
  const { axes, scale, translation, words, multiscale } = image;
  const datasets = levels.map((level, i): JsonObject => {
    const offsets = translation.map(
      (at, d) => at + (scale[d] ?? 1) * blockOffset(level.scale[d] ?? 1, method),
    );
    const scales = scale.map((size, d) => size * (level.scale[d] ?? 1));
    const isMoved = offsets.some((at) => at !== 0);
    const form = version === "0.6" ? [placedAt(`${i}`, image)] : [];
    const numbers = { scale: scales, ...(isMoved && { translation: offsets }) };
    return { path: `${i}`, coordinateTransformations: placing(numbers, form) };
  });
  const { version: stated, metadata: _, ...kept } = multiscale;
  const own = { ...(version !== "0.6" && { axes: [...axes] }), datasets, type: method };
  const described: JsonObject = { name, ...kept, ...own };
  const { [OME]: ome = {}, multiscales: __, ...others } = attributes;
  // drafts of a version use its form, and keep their own version names
  const asStated = (before: JsonValue | undefined) =>
    words === version && typeof before === "string" && before.startsWith(version) ? before : version;
  if (version === V2_VERSION)
    return { ...attributes, multiscales: [{ version: asStated(stated), ...described }] };
  const inOme = isJsonObject(ome) ? ome : {};
  return {
    ...others,
    [OME]: { ...inOme, version: asStated(inOme.version), multiscales: [described] },
  };
}

/** Placement of a level in 0.6: a transformation from its indices to the coordinate system of the image. */
function placedAt(path: string, { multiscale, transformations }: Image): JsonObject {
  const [system = {}] = objectsIn(member(multiscale, "coordinateSystems"));
  const [stated] = transformations;
  const given = isJsonObject(stated) ? stated : {};
  const input = member(given, "input");
  const name = coordinateSystemOf(multiscale) ?? member(system, "name") ?? null;
  return {
    ...given,
    input: typeof input === "string" ? path : { ...(isJsonObject(input) && input), path },
    output: member(given, "output") ?? { name },
  };
}
