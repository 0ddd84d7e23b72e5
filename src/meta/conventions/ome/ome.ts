import type { JsonObject } from "../../../util/json-value.ts";
import { joinKey } from "../../../util/node-path.ts";
import type { ArrayMetadata, GroupMetadata } from "../../array-metadata.ts";
import { isJsonObject, member } from "../../assert-json.ts";
import { otherNames } from "../../documents.ts";
import type { Convention, ConventionNode, FormatChange } from "../convention.ts";
import { axesByArray, multiscalesOf, OME, OME_NAMES, textsIn } from "./attributes.ts";
import { listsOfMembers } from "./members.ts";
import { inWordsOfV2, inWordsOfV3, READ_VERSIONS, V2_VERSION, V3_VERSION, versionInV2 } from "./versions.ts";

/**
 * OME-Zarr: images in several resolutions, their labels, plates and collections, described by attributes of groups.
 * Zarr v2 uses version 0.4. Zarr v3 uses version 0.5, which has the same metadata under `ome` and requires the names
 * of the axes in the arrays too.
 */
export const omeZarr: Convention = {
  name: "OME-Zarr",
  ofOthers: /^(?:ome|multiscales|labels|plate|well|series)$/,
  convert(nodes, change) {
    if (change.to === "v3") return omeToV3(nodes, change);
    return change.from === "v3" && change.to === "v2" ? omeToV2(nodes, change) : nodes;
  },
  follow: listsOfMembers,
};

/** Returns the names of a group's attributes that are OME-Zarr metadata; other conventions may use the same names. */
export type OmeNamesOf = (node: ConventionNode) => readonly string[];

/** Returns that function for the groups of a Zarr v2 hierarchy. */
export function omeNamesAmong(nodes: readonly ConventionNode[]): OmeNamesOf {
  const attributes = new Map(nodes.map(({ path, metadata }) => [path, metadata.attributes]));
  const isImage = (path: string) => {
    const own = attributes.get(path) ?? {};
    return versionInV2(own) === V2_VERSION && multiscalesOf(own).length > 0;
  };
  return ({ path, metadata }) => {
    const own = metadata.attributes;
    const parent = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : path === "" ? undefined : "";
    const has = (name: string, inside: string) => {
      const value = member(own, name);
      return isJsonObject(value) && Array.isArray(member(value, inside));
    };
    const isNamed = (name: string) => path === joinKey(parent ?? "", name);
    const labels = textsIn(member(own, "labels"));
    const areLabels =
      (parent !== undefined && isNamed("labels") && isImage(parent)) ||
      labels.some((label) => isImage(joinKey(path, label)));
    const isCollection = (of: JsonObject | undefined) =>
      member(of ?? {}, "bioformats2raw.layout") !== undefined;
    const isSeries = parent !== undefined && isNamed("OME") && isCollection(attributes.get(parent));
    const names: readonly (readonly [string, boolean])[] = [
      ["multiscales", isImage(path)],
      ["omero", isImage(path)],
      ["image-label", isImage(path)],
      ["labels", areLabels],
      ["plate", has("plate", "wells")],
      ["well", has("well", "images")],
      ["bioformats2raw.layout", isCollection(own)],
      ["series", isSeries],
    ];
    return names.filter(([name, isOme]) => isOme && member(own, name) !== undefined).map(([name]) => name);
  };
}

/**
 * Converts OME-Zarr 0.5 to 0.4, with chunks in nested folders. Groups of later versions stay unchanged, with a note.
 */
export function omeToV2(nodes: readonly ConventionNode[], change: FormatChange): readonly ConventionNode[] {
  const groups = nodes.filter(({ metadata }) => isConvertible(metadata.attributes));
  const axes = axesByArray(groups);
  return nodes.map((node) => {
    const { metadata, path } = node;
    noteOthers(node, change);
    const names = axes.get(path);
    const converted = metadata.kind === "array" ? asLevel(metadata, names) : amongAttributes(metadata);
    return converted === metadata ? node : { path, metadata: converted };
  });
}

/** True if a group has metadata of 0.5; ome-zarr-py omits the version in the list of labels. */
function isConvertible(attributes: JsonObject): boolean {
  const ome = member(attributes, OME);
  if (!isJsonObject(ome) || ![undefined, V3_VERSION].includes(versionOf(ome))) return false;
  const names = OME_NAMES.filter((name) => member(ome, name) !== undefined);
  return names.length > 0 && names.every((name) => member(attributes, name) === undefined);
}

function versionOf(ome: JsonObject): string | undefined {
  const version = member(ome, "version");
  return version === undefined || typeof version === "string" ? version : "unknown";
}

function noteOthers({ path, metadata }: ConventionNode, change: FormatChange): void {
  const ome = member(metadata.attributes, OME);
  const version = isJsonObject(ome) ? versionOf(ome) : undefined;
  if (metadata.kind === "array" || version === undefined || isConvertible(metadata.attributes)) return;
  const isOwn = version === V3_VERSION;
  change.note({
    path,
    message: isOwn
      ? "OME-Zarr metadata that v2 attributes cannot represent is not converted"
      : `OME-Zarr ${version} has no counterpart in Zarr v2, so its metadata is not converted`,
    ...(!isOwn && { hint: READ_VERSIONS }),
  });
}

function amongAttributes(metadata: GroupMetadata): GroupMetadata {
  const { attributes } = metadata;
  const ome = member(attributes, OME);
  if (!isJsonObject(ome) || !isConvertible(attributes)) return metadata;
  const known = OME_NAMES.filter((name) => member(ome, name) !== undefined);
  const others = otherNames(ome, [...known, "version"]);
  const moved = Object.fromEntries(Object.entries(ome).filter(([name]) => known.some((one) => one === name)));
  return {
    ...metadata,
    attributes: {
      ...otherNames(attributes, [OME]),
      ...inWordsOfV2(moved),
      ...(Object.keys(others).length > 0 && { [OME]: others }),
    },
  };
}

/**
 * Converts a level of an image. Removes the axis names from the array, because the group states them, unless the
 * array had its own.
 */
function asLevel(metadata: ArrayMetadata, axes: readonly string[] | undefined): ArrayMetadata {
  if (axes === undefined) return metadata;
  const { dimensionNames, attributes, ...rest } = metadata;
  const stated = textsIn(member(attributes, DIMENSIONS));
  const before = stated.length === metadata.shape.length ? stated : undefined;
  const isTold = axes.every((name, d) => dimensionNames?.[d] === name);
  const names = before ?? (isTold ? undefined : dimensionNames);
  return {
    ...rest,
    attributes: before ? otherNames(attributes, [DIMENSIONS]) : attributes,
    ...(names && { dimensionNames: names }),
    chunkKeyEncoding: { name: "plain", separator: "/" },
  };
}

/**
 * The attribute that names dimensions in v2. Kept in v3 for images that had it, to restore it when converting back.
 */
export const DIMENSIONS = "_ARRAY_DIMENSIONS";

/** Converts OME-Zarr 0.4 to 0.5. A hierarchy of an older version stays unchanged, with a note. */
export function omeToV3(nodes: readonly ConventionNode[], change: FormatChange): readonly ConventionNode[] {
  const versions = versionsOf(nodes);
  if (versions.size === 0) return nodes;
  const older = [...versions].find(([version]) => version !== V2_VERSION);
  if (older) {
    const [version, path] = older;
    change.note({
      path,
      message: `OME-Zarr ${version} has no counterpart in Zarr v3, so its metadata is not converted`,
      hint: READ_VERSIONS,
    });
    return nodes;
  }
  const namesOf = omeNamesAmong(nodes);
  const axes = axesByArray(nodes);
  return nodes.map((node) => {
    const { metadata, path } = node;
    const converted =
      metadata.kind === "array"
        ? namedAfterAxes(metadata, axes.get(path))
        : underOme(metadata, namesOf(node), () => noteBoth(path, change));
    return converted === metadata ? node : { path, metadata: converted };
  });
}

/** The versions of a hierarchy, each with the first group that has it. */
function versionsOf(nodes: readonly ConventionNode[]): Map<string, string> {
  const versions = new Map<string, string>();
  for (const { path, metadata } of nodes) {
    const version = metadata.kind === "group" ? versionInV2(metadata.attributes) : undefined;
    if (version !== undefined && !versions.has(version)) versions.set(version, path);
  }
  return versions;
}

function underOme(metadata: GroupMetadata, names: ReturnType<OmeNamesOf>, onBoth: () => void): GroupMetadata {
  const { attributes } = metadata;
  if (names.length === 0) return metadata;
  const rest = member(attributes, OME) ?? {};
  if (!isJsonObject(rest) || [...names, "version"].some((name) => member(rest, name) !== undefined)) {
    onBoth();
    return metadata;
  }
  const moved = Object.fromEntries(Object.entries(attributes).filter(([name]) => names.includes(name)));
  const ome = { version: V3_VERSION, ...inWordsOfV3(moved), ...rest };
  return { ...metadata, attributes: { ...otherNames(attributes, [...names, OME]), [OME]: ome } };
}

function noteBoth(path: string, change: FormatChange): void {
  change.note({
    path,
    message: "the attribute `ome` exists next to OME-Zarr 0.4 metadata, so neither is converted",
  });
}

/** Names the dimensions of a level after the image's axes. */
function namedAfterAxes(metadata: ArrayMetadata, axes: readonly string[] | undefined): ArrayMetadata {
  const { dimensionNames, attributes, shape } = metadata;
  if (axes?.length !== shape.length) return metadata;
  const kept: JsonObject = dimensionNames?.every((name) => name !== null)
    ? { [DIMENSIONS]: [...dimensionNames] }
    : {};
  return { ...metadata, attributes: { ...attributes, ...kept }, dimensionNames: axes };
}
