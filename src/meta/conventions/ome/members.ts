import { ZarrflowError } from "../../../util/errors.ts";
import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { belowPath } from "../../../util/node-path.ts";
import { isObject, member } from "../../assert-json.ts";
import { objectsIn, omeOf, SCENE, textsIn } from "./attributes.ts";
import { transformationPaths } from "./multiscales.ts";

/** The nodes below a group that its OME-Zarr metadata refer to. */
export interface OmeMembers {
  /** Normalised distinct paths below the group; some may have no node. */
  readonly paths: readonly string[];
  /** The member whose `series` lists the paths of images beside it. Without one, images are numbered from 0. */
  readonly seriesIn?: string;
}

/** Most paths that one group may list: more than any plate has wells. */
const MAX_PATHS = 10_000;

/**
 * The nodes that a group's metadata refer to: levels of an image, labels, wells of a plate, images of a well, series,
 * and targets of transformations. Ignores paths outside of the group. Undefined if there are no OME-Zarr metadata.
 *
 * @throws `resource-limit` for more paths than any image or plate has.
 */
export function omeMembers(attributes: JsonObject): OmeMembers | undefined {
  const ome = omeOf(attributes);
  if (ome === undefined) return undefined;
  const { metadata } = ome;
  const multiscales = member(metadata, "multiscales");
  const plate = member(metadata, "plate");
  const well = member(metadata, "well");
  const scene = member(metadata, SCENE);
  const placed = [...objectsIn(multiscales), ...(isObject(scene) ? [scene] : [])];
  const isCollection = member(metadata, "bioformats2raw.layout") !== undefined;
  const named = [
    ...objectsIn(multiscales).flatMap((multiscale) => pathsIn(member(multiscale, "datasets"))),
    ...(multiscales === undefined ? [] : ["labels"]),
    ...placed.flatMap((one) => transformationPaths(member(one, "coordinateTransformations"))),
    ...textsIn(member(metadata, "labels")),
    ...(isObject(plate) ? pathsIn(member(plate, "wells")) : []),
    ...(isObject(well) ? pathsIn(member(well, "images")) : []),
    ...(isCollection ? ["OME"] : []),
  ];
  const paths = innerPaths(named);
  return isCollection && plate === undefined ? { paths, seriesIn: "OME" } : { paths };
}

/** The image paths that the group `OME` of a collection lists; undefined if it lists none. */
export function omeSeries(attributes: JsonObject): string[] | undefined {
  const series = member(omeOf(attributes)?.metadata ?? {}, "series");
  return Array.isArray(series) ? innerPaths(textsIn(series)) : undefined;
}

/** A note about a node, by its path below another one. */
export interface PathNote {
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

/** Notes about selected labels whose source image is not selected. */
export function sourcesOutside(
  nodes: readonly { readonly path: string; readonly metadata: { readonly attributes: JsonObject } }[],
  root: string,
): PathNote[] {
  return nodes.flatMap(({ path, metadata }) => {
    const label = member(omeOf(metadata.attributes)?.metadata ?? {}, "image-label");
    const source = isObject(label) ? member(label, "source") : undefined;
    const image = isObject(source) ? member(source, "image") : undefined;
    const below = belowPath(root, path);
    const names = [...below.split("/"), ...(typeof image === "string" ? image.split("/") : [])];
    let depth = 0;
    let isOutside = false;
    for (const name of names.filter((one) => one !== "" && one !== ".")) {
      depth += name === ".." ? -1 : 1;
      isOutside ||= depth < 0;
    }
    if (!isOutside) return [];
    const message = `the image of these labels, \`${image}\` from here, does not come along`;
    return [
      { path: below, message, hint: "Correct `image-label.source` where the labels lie elsewhere now." },
    ];
  });
}

function pathsIn(list: JsonValue | undefined): string[] {
  return textsIn(objectsIn(list).map((object) => member(object, "path") ?? null));
}

function innerPaths(named: readonly string[]): string[] {
  const paths = new Set(named.filter(isInside));
  if (paths.size <= MAX_PATHS) return [...paths];
  throw new ZarrflowError("resource-limit", "the metadata of a group name too many members", {
    expected: `at most ${MAX_PATHS}`,
    found: paths.size,
  });
}

/** True if a path consists of plain names only. */
function isInside(path: string): boolean {
  return path
    .split("/")
    .every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("\\"));
}
