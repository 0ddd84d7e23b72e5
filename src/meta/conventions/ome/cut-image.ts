import { finiteNumber, type JsonObject, type JsonValue } from "../../../util/json-value.ts";
import { isJsonObject, member } from "../../assert-json.ts";
import { OME, omeOf, omeVersion } from "./attributes.ts";
import { axisOfType, type Multiscale, multiscalesOf } from "./multiscales.ts";
import { cutTransformations, type LevelCut } from "./placement.ts";

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
