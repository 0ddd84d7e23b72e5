import { ZarrflowError } from "../../../util/errors.ts";
import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { belowPath, folderOf, joinKey } from "../../../util/node-path.ts";
import { isJsonObject, member } from "../../assert-json.ts";
import { type ChangedNode, type GridChange, isArray, withAttributes } from "../convention.ts";
import { OME, objectsIn, omeOf, SCENE, textsIn, transformationPaths } from "./attributes.ts";

/** The nodes below a group that its OME-Zarr metadata refer to. */
export interface OmeMembers {
  /** Normalized distinct paths below the group; some may have no node. */
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
  const placed = [...objectsIn(multiscales), ...(isJsonObject(scene) ? [scene] : [])];
  const isCollection = member(metadata, "bioformats2raw.layout") !== undefined;
  const named = [
    ...objectsIn(multiscales).flatMap((multiscale) => pathsIn(member(multiscale, "datasets"))),
    ...(multiscales === undefined ? [] : ["labels"]),
    ...placed.flatMap((one) => transformationPaths(member(one, "coordinateTransformations"))),
    ...textsIn(member(metadata, "labels")),
    ...(isJsonObject(plate) ? pathsIn(member(plate, "wells")) : []),
    ...(isJsonObject(well) ? pathsIn(member(well, "images")) : []),
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
    const source = isJsonObject(label) ? member(label, "source") : undefined;
    const image = isJsonObject(source) ? member(source, "image") : undefined;
    const below = belowPath(root, path);
    const names = [...below.split("/"), ...(typeof image === "string" ? image.split("/") : [])];
    let depth = 0;
    let isOutside = false;
    for (const name of names.filter((one) => one !== "" && one !== ".")) {
      depth += name === ".." ? -1 : 1;
      isOutside ||= depth < 0;
    }
    if (!isOutside) return [];
    const message = `the image of these labels, at the relative path \`${image}\`, is not included`;
    return [
      { path: below, message, hint: "If the labels are now in another place, correct `image-label.source`." },
    ];
  });
}

function pathsIn(list: JsonValue | undefined): string[] {
  return textsIn(objectsIn(list).map((object) => member(object, "path") ?? null));
}

function innerPaths(named: readonly string[]): string[] {
  const paths = new Set(named.filter(isPlainPath));
  if (paths.size <= MAX_PATHS) return [...paths];
  throw new ZarrflowError("resource-limit", "the metadata of the group names too many members", {
    expected: `at most ${MAX_PATHS}`,
    found: paths.size,
  });
}

/** True if a path consists of plain names only. */
function isPlainPath(path: string): boolean {
  return path
    .split("/")
    .every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("\\"));
}

/**
 * Removes members that are not in the target from lists: wells of a plate, images of a well, series, labels, and
 * levels of images. Rows and columns of a plate stay: they are positions, which may be empty.
 */
export function listsOfMembers(nodes: readonly ChangedNode[], change: GridChange): readonly ChangedNode[] {
  return nodes.map((node) => {
    const ome = isArray(node) ? undefined : omeOf(node.metadata.attributes);
    if (ome === undefined) return node;
    const now = new MemberLists(node, change).without(ome.metadata);
    if (now === ome.metadata) return node;
    const { attributes } = node.metadata;
    return withAttributes(node, ome.metadata === attributes ? now : { ...attributes, [OME]: now });
  });
}

class MemberLists {
  readonly #node: ChangedNode;
  readonly #change: GridChange;

  constructor(node: ChangedNode, change: GridChange) {
    this.#node = node;
    this.#change = change;
  }

  without(metadata: JsonObject): JsonObject {
    const { path } = this.#node;
    const above = folderOf(path);
    const changed = {
      ...this.#inside(metadata, "plate", "wells"),
      ...this.#inside(metadata, "well", "images"),
      ...this.#listed(metadata, "labels", path),
      ...this.#listed(metadata, "series", above),
      ...this.#levels(metadata),
    };
    return Object.keys(changed).length > 0 ? { ...metadata, ...changed } : metadata;
  }

  /** Filters a list in an object: `plate.wells`. */
  #inside(metadata: JsonObject, name: string, list: string): JsonObject {
    const object = member(metadata, name);
    if (!isJsonObject(object)) return {};
    const changed = this.#listed(object, list, this.#node.path, `${name}.${list}`);
    return changed[list] === undefined ? {} : { [name]: { ...object, ...changed } };
  }

  /** Filters the levels of images, and removes images without levels. */
  #levels(metadata: JsonObject): JsonObject {
    const images = objectsIn(member(metadata, "multiscales"));
    const next = images.map((image) => {
      const changed = this.#listed(image, "datasets", this.#node.path, "multiscales.datasets");
      return changed.datasets === undefined ? image : { ...image, ...changed };
    });
    if (next.every((image, i) => image === images[i])) return {};
    return { multiscales: next.filter((image) => objectsIn(member(image, "datasets")).length > 0) };
  }

  /** Filters a list of paths, or of objects with a `path`, below a group. Returns `{}` if nothing changes. */
  #listed(object: JsonObject, name: string, group: string, named = name): JsonObject {
    const list = member(object, name);
    if (!Array.isArray(list)) return {};
    const left: JsonValue[] = [];
    const gone: string[] = [];
    for (const one of list) {
      const path = pathOf(one);
      if (path !== undefined && this.#change.isGone(joinKey(group, path))) gone.push(path);
      else left.push(one);
    }
    if (gone.length === 0) return {};
    const first = gone.slice(0, MAX_NAMED).join(", ");
    const more = gone.length > MAX_NAMED ? ` and ${gone.length - MAX_NAMED} more` : "";
    this.#change.note(
      this.#node,
      `\`${named}\`: ${first}${more} dropped: ${gone.length === 1 ? "it is" : "they are"} not in the target`,
    );
    return { [name]: left };
  }
}

/** The most members that a note lists. */
const MAX_NAMED = 3;

function pathOf(entry: JsonValue): string | undefined {
  const path = isJsonObject(entry) ? member(entry, "path") : entry;
  return typeof path === "string" ? path : undefined;
}
