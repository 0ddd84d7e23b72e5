import { ZarrflowError } from "../../../util/errors.ts";
import { finiteNumber, type JsonObject, type JsonValue } from "../../../util/json-value.ts";
import { writeJson } from "../../../util/json-write.ts";
import { isJsonObject, member } from "../../assert-json.ts";
import { axisOfType, type Multiscale, multiscalesOf, OME, omeOf } from "./attributes.ts";
import { omeVersion } from "./versions.ts";

/** Position of a level's items along each axis: item `i` is at `translation + i * scale`. */
export interface Placement {
  readonly scale: readonly number[];
  readonly translation: readonly number[];
}

/** The part of a level that is taken, along each dimension. */
export interface LevelCut {
  readonly start: readonly number[];
  readonly step: readonly number[];
}

/**
 * Combines a level's `coordinateTransformations`, including those in a `sequence`; undefined if they are absent.
 *
 * @throws `unsupported-operation` for transformations without one number per axis.
 */
export function placementOf(transformations: JsonValue | undefined, rank: number): Placement | undefined {
  if (transformations === undefined) return undefined;
  if (!Array.isArray(transformations)) throw unknownTransformation(transformations);
  return transformations.flatMap(parts).reduce<Placement>(
    ({ scale, translation }, one) => {
      const factors = vectorOf(one, "scale", rank);
      const offsets = vectorOf(one, "translation", rank);
      if (factors === undefined && offsets === undefined && !isIdentity(one))
        throw unknownTransformation(one);
      const times = (values: readonly number[]) => values.map((value, d) => value * (factors?.[d] ?? 1));
      return {
        scale: times(scale),
        translation: times(translation).map((value, d) => value + (offsets?.[d] ?? 0)),
      };
    },
    { scale: new Array<number>(rank).fill(1), translation: new Array<number>(rank).fill(0) },
  );
}

/**
 * Transformations for part of a level: its item 0 is at the position of item `start`, and items are `step` times as
 * far apart. Unchanged numbers keep their text; a transformation of 0.6 keeps its `input` and `output`.
 *
 * @throws as `placementOf`
 */
export function cutTransformations(
  transformations: JsonValue | undefined,
  { start, step }: LevelCut,
): JsonValue | undefined {
  const before = placementOf(transformations, start.length);
  const isWhole = start.every((at, d) => at === 0 && step[d] === 1);
  if (before === undefined || transformations === undefined || isWhole) return transformations;
  const scale = before.scale.map((size, d) => size * (step[d] ?? 1));
  const translation = before.translation.map((at, d) => at + (start[d] ?? 0) * (before.scale[d] ?? 1));
  const stated = Array.isArray(transformations) ? transformations : [];
  const written = stated.flatMap(parts);
  const isTranslated = written.some((one) => isOfType(one, "translation"));
  const isMoved = isTranslated || translation.some((at) => at !== 0);
  const numbers = {
    scale: asWritten(scale, written, "scale"),
    ...(isMoved && { translation: asWritten(translation, written, "translation") }),
  };
  return placing(numbers, stated);
}

/** Numbers that position a level's items. */
interface PlacingNumbers {
  readonly scale: readonly JsonValue[];
  readonly translation?: readonly JsonValue[];
}

/**
 * Writes the transformations of a level in the form of `like`. Since 0.6 this is a single one with `input` and
 * `output`, a `sequence` if there is a translation.
 */
export function placing({ scale, translation }: PlacingNumbers, like: readonly JsonValue[]): JsonObject[] {
  const list: JsonObject[] = [
    { type: "scale", scale: [...scale] },
    ...(translation ? [{ type: "translation", translation: [...translation] }] : []),
  ];
  const [only] = like;
  if (like.length !== 1 || !isJsonObject(only) || !isPlaced(only)) return list;
  const ends = Object.fromEntries(Object.entries(only).filter(([name]) => !NUMBERS.has(name)));
  const [one = {}] = list;
  return [list.length === 1 ? { ...one, ...ends } : { type: "sequence", ...ends, transformations: list }];
}

/** Members that define what a transformation does; the others name its input and output. */
const NUMBERS = new Set(["type", "scale", "translation", "transformations"]);

/** True if a transformation names its input or output, as all do in 0.6. */
function isPlaced(transformation: JsonObject): boolean {
  return ["input", "output"].some((name) => member(transformation, name) !== undefined);
}

/** The parts of a transformation: itself, or those of a `sequence`. */
function parts(transformation: JsonValue): JsonValue[] {
  if (!isJsonObject(transformation) || !isOfType(transformation, "sequence")) return [transformation];
  const inner = member(transformation, "transformations");
  return Array.isArray(inner) ? inner.flatMap(parts) : [transformation];
}

/** Writes numbers, keeping the original text of unchanged ones. */
function asWritten(values: readonly number[], written: readonly JsonValue[], type: string): JsonValue[] {
  const one = written.find((transformation) => isOfType(transformation, type));
  const old = isJsonObject(one) ? member(one, type) : undefined;
  return values.map((value, d) => {
    const before = Array.isArray(old) ? old[d] : undefined;
    return before !== undefined && finiteNumber(before) === value ? before : value;
  });
}

function vectorOf(transformation: JsonValue, type: string, rank: number): number[] | undefined {
  if (!isJsonObject(transformation) || !isOfType(transformation, type)) return undefined;
  const values = member(transformation, type);
  const numbers = Array.isArray(values) ? values.map(finiteNumber) : [];
  const finite = numbers.filter((value) => value !== undefined);
  return finite.length === rank && numbers.length === rank ? finite : undefined;
}

function isOfType(transformation: JsonValue, type: string): boolean {
  return isJsonObject(transformation) && member(transformation, "type") === type;
}

function isIdentity(transformation: JsonValue): boolean {
  return isOfType(transformation, "identity");
}

function unknownTransformation(found: JsonValue): ZarrflowError {
  return new ZarrflowError("unsupported-operation", "a level of an image has an unknown transformation", {
    expected: "a scale or translation with one number per axis",
    found: writeJson(found, { nonFinite: "token" }),
    hint: "Use one level instead of the image.",
  });
}

/** A cut of a level, and the number of items that remain along each dimension. */
export interface ImageCut extends LevelCut {
  readonly shape: readonly number[];
}

/**
 * Updates the attributes of a group whose images are cut: transformations of the levels, channels, and the plane that
 * is displayed first.
 *
 * @param cutOf returns the cut of the level at a path below the group; undefined if all of it is taken
 * @throws `unsupported-operation` for unknown transformations and versions.
 */
export function cutImages(attributes: JsonObject, cutOf: (path: string) => ImageCut | undefined): JsonObject {
  const ome = omeOf(attributes);
  const multiscales = member(ome?.metadata ?? {}, "multiscales");
  const images = multiscalesOf(attributes);
  const isCut = images.some(({ levels }) => levels.some(({ path }) => cutOf(path) !== undefined));
  if (ome === undefined || !Array.isArray(multiscales) || !isCut) return attributes;
  omeVersion(attributes);
  const [image] = images;
  const first = image?.levels[0] && cutOf(image.levels[0].path);
  const omero = member(ome.metadata, "omero");
  const cut: JsonObject = {
    ...ome.metadata,
    multiscales: multiscales.map((multiscale) =>
      isJsonObject(multiscale) ? cutMultiscale(multiscale, cutOf) : multiscale,
    ),
    ...(first && image && isJsonObject(omero) && { omero: cutOmero(omero, first, image) }),
  };
  return ome.metadata === attributes ? cut : { ...attributes, [OME]: cut };
}

function cutMultiscale(multiscale: JsonObject, cutOf: (path: string) => ImageCut | undefined): JsonObject {
  const datasets = member(multiscale, "datasets");
  if (!Array.isArray(datasets)) return multiscale;
  const cutDataset = (dataset: JsonValue): JsonValue => {
    const path = isJsonObject(dataset) ? member(dataset, "path") : undefined;
    const cut = typeof path === "string" ? cutOf(path) : undefined;
    if (!isJsonObject(dataset) || cut === undefined) return dataset;
    const transformations = cutTransformations(member(dataset, "coordinateTransformations"), cut);
    return transformations === undefined
      ? dataset
      : { ...dataset, coordinateTransformations: transformations };
  };
  return { ...multiscale, datasets: datasets.map(cutDataset) };
}

/** Restricts the display settings to the remaining channels, points in time and planes. */
function cutOmero(omero: JsonObject, cut: ImageCut, image: Multiscale): JsonObject {
  const channels = member(omero, "channels");
  const rdefs = member(omero, "rdefs");
  const c = axisOfType(image, "channel");
  return {
    ...omero,
    ...(Array.isArray(channels) && c >= 0 && { channels: taken(channels, cut, c) }),
    ...(isJsonObject(rdefs) && { rdefs: cutDefaults(rdefs, cut, image) }),
  };
}

/** The list items that describe the remaining part; the list may be shorter than the axis. */
function taken(items: readonly JsonValue[], { start, step, shape }: ImageCut, d: number): JsonValue[] {
  const at = Array.from({ length: shape[d] ?? 0 }, (_, i) => (start[d] ?? 0) + i * (step[d] ?? 1));
  return at.flatMap((index) => items[index] ?? []);
}

function cutDefaults(rdefs: JsonObject, cut: ImageCut, image: Multiscale): JsonObject {
  const places = { defaultT: axisOfType(image, "time"), defaultZ: image.axes?.indexOf("z") ?? -1 };
  const shown = Object.entries(places).flatMap(([name, d]) => {
    const before = finiteNumber(member(rdefs, name));
    if (before === undefined || d < 0) return [];
    const at = Math.floor((before - (cut.start[d] ?? 0)) / (cut.step[d] ?? 1));
    return [[name, Math.min(Math.max(0, at), Math.max(0, (cut.shape[d] ?? 1) - 1))] as const];
  });
  return { ...rdefs, ...Object.fromEntries(shown) };
}
