import type { JsonObject } from "../../../util/json-value.ts";
import type { ArrayMetadata, GroupMetadata } from "../../array-metadata.ts";
import { isObject, member } from "../../assert-json.ts";
import { otherNames } from "../../documents.ts";
import type { ConventionNode, FormatChange } from "../convention.ts";
import { OME, OME_NAMES, textsIn } from "./attributes.ts";
import { axesByArray } from "./multiscales.ts";
import { DIMENSIONS } from "./to-v3.ts";
import { inWordsOfV2, READ_VERSIONS, V3_VERSION } from "./versions.ts";

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
  if (!isObject(ome) || ![undefined, V3_VERSION].includes(versionOf(ome))) return false;
  const names = OME_NAMES.filter((name) => member(ome, name) !== undefined);
  return names.length > 0 && names.every((name) => member(attributes, name) === undefined);
}

function versionOf(ome: JsonObject): string | undefined {
  const version = member(ome, "version");
  return version === undefined || typeof version === "string" ? version : "unknown";
}

function noteOthers({ path, metadata }: ConventionNode, change: FormatChange): void {
  const ome = member(metadata.attributes, OME);
  const version = isObject(ome) ? versionOf(ome) : undefined;
  if (metadata.kind === "array" || version === undefined || isConvertible(metadata.attributes)) return;
  const isOwn = version === V3_VERSION;
  change.note({
    path,
    message: isOwn
      ? "OME-Zarr metadata that v2 attributes cannot represent are not converted"
      : `OME-Zarr ${version} has no counterpart in Zarr v2, so its metadata are not converted`,
    ...(!isOwn && { hint: READ_VERSIONS }),
  });
}

function amongAttributes(metadata: GroupMetadata): GroupMetadata {
  const { attributes } = metadata;
  const ome = member(attributes, OME);
  if (!isObject(ome) || !isConvertible(attributes)) return metadata;
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
