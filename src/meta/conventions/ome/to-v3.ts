import type { JsonObject } from "../../../util/json-value.ts";
import type { ArrayMetadata, GroupMetadata } from "../../array-metadata.ts";
import { isObject, member } from "../../assert-json.ts";
import { otherNames } from "../../documents.ts";
import type { ConventionNode, FormatChange } from "../convention.ts";
import { OME } from "./attributes.ts";
import { axesByArray } from "./multiscales.ts";
import { type OmeNamesOf, omeNamesAmong } from "./ome-groups.ts";
import { inWordsOfV3, READ_VERSIONS, V2_VERSION, V3_VERSION, versionInV2 } from "./versions.ts";

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
      message: `OME-Zarr ${version} has no counterpart in Zarr v3, so its metadata are not converted`,
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
        ? withAxes(metadata, axes.get(path))
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
  if (!isObject(rest) || [...names, "version"].some((name) => member(rest, name) !== undefined)) {
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
    message: "the attribute `ome` exists beside metadata of OME-Zarr 0.4, so neither is converted",
  });
}

/** Names the dimensions of a level after the image's axes. */
function withAxes(metadata: ArrayMetadata, axes: readonly string[] | undefined): ArrayMetadata {
  const { dimensionNames, attributes, shape } = metadata;
  if (axes?.length !== shape.length) return metadata;
  const kept: JsonObject = dimensionNames?.every((name) => name !== null)
    ? { [DIMENSIONS]: [...dimensionNames] }
    : {};
  return { ...metadata, attributes: { ...attributes, ...kept }, dimensionNames: axes };
}
