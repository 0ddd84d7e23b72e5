import type { JsonObject } from "../../../util/json-value.ts";
import { isObject, member } from "../../assert-json.ts";
import { joinKey } from "../../join-key.ts";
import type { ConventionNode } from "../convention.ts";
import { textsIn } from "./attributes.ts";
import { multiscalesOf } from "./multiscales.ts";
import { V2_VERSION, versionInV2 } from "./versions.ts";

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
      return isObject(value) && Array.isArray(member(value, inside));
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
