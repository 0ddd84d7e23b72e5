import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { isObject, member } from "../../assert-json.ts";
import { OME, omeOf } from "./attributes.ts";
import { multiscalesOf } from "./multiscales.ts";
import { cutTransformations, type LevelCut } from "./placement.ts";

/** A cut of a level, and how many items it leaves and leaves of how many, along each dimension. */
export interface ImageCut extends LevelCut {
  readonly shape: readonly number[];
  readonly whole: readonly number[];
}

/**
 * The attributes of a group whose images are cut: transformations of the levels, channels, and the plane that is shown
 * first.
 *
 * @param cutOf what is taken of the level at a path below the group; undefined where all of it is
 * @throws `unsupported-operation` for transformations that are not known.
 */
export function cutImages(attributes: JsonObject, cutOf: (path: string) => ImageCut | undefined): JsonObject {
  const ome = omeOf(attributes);
  const multiscales = member(ome?.metadata ?? {}, "multiscales");
  const images = multiscalesOf(attributes);
  const isCut = images.some(({ levels }) => levels.some(({ path }) => cutOf(path) !== undefined));
  if (ome === undefined || !Array.isArray(multiscales) || !isCut) return attributes;
  const [image] = images;
  const first = image?.levels[0] && cutOf(image.levels[0].path);
  const omero = member(ome.metadata, "omero");
  const cut: JsonObject = {
    ...ome.metadata,
    multiscales: multiscales.map((multiscale) =>
      isObject(multiscale) ? cutMultiscale(multiscale, cutOf) : multiscale,
    ),
    ...(first && image?.axes && isObject(omero) && { omero: cutOmero(omero, first, image.axes) }),
  };
  return ome.metadata === attributes ? cut : { ...attributes, [OME]: cut };
}

function cutMultiscale(multiscale: JsonObject, cutOf: (path: string) => ImageCut | undefined): JsonObject {
  const datasets = member(multiscale, "datasets");
  if (!Array.isArray(datasets)) return multiscale;
  const cutDataset = (dataset: JsonValue): JsonValue => {
    const path = isObject(dataset) ? member(dataset, "path") : undefined;
    const cut = typeof path === "string" ? cutOf(path) : undefined;
    if (!isObject(dataset) || cut === undefined) return dataset;
    const transformations = cutTransformations(member(dataset, "coordinateTransformations"), cut);
    return transformations === undefined
      ? dataset
      : { ...dataset, coordinateTransformations: transformations };
  };
  return { ...multiscale, datasets: datasets.map(cutDataset) };
}

/** How an image is shown, of what is left of its channels, points in time and planes. */
function cutOmero(omero: JsonObject, cut: ImageCut, axes: readonly string[]): JsonObject {
  const channels = member(omero, "channels");
  const rdefs = member(omero, "rdefs");
  const c = axes.indexOf("c");
  const hasAll = Array.isArray(channels) && channels.length === cut.whole[c];
  return {
    ...omero,
    ...(hasAll && { channels: taken(channels, cut, c) }),
    ...(isObject(rdefs) && { rdefs: cutDefaults(rdefs, cut, axes) }),
  };
}

function taken(items: readonly JsonValue[], { start, step, shape }: ImageCut, d: number): JsonValue[] {
  return Array.from({ length: shape[d] ?? 0 }, (_, i) => items[(start[d] ?? 0) + i * (step[d] ?? 1)] ?? null);
}

function cutDefaults(rdefs: JsonObject, cut: ImageCut, axes: readonly string[]): JsonObject {
  const shown = Object.entries({ defaultT: "t", defaultZ: "z" }).flatMap(([name, axis]) => {
    const [before, d] = [member(rdefs, name), axes.indexOf(axis)];
    if (typeof before !== "number" || d < 0) return [];
    const at = Math.floor((before - (cut.start[d] ?? 0)) / (cut.step[d] ?? 1));
    return [[name, Math.min(Math.max(0, at), Math.max(0, (cut.shape[d] ?? 1) - 1))] as const];
  });
  return { ...rdefs, ...Object.fromEntries(shown) };
}
