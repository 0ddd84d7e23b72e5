import type { ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { isObject, member } from "../../meta/assert-json.ts";
import { OME, omeOf, SCENE } from "../../meta/conventions/ome/attributes.ts";
import { omeMembers, omeSeries } from "../../meta/conventions/ome/members.ts";
import { joinKey } from "../../meta/join-key.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { lastName } from "../../util/node-path.ts";
import type { PyramidOptions } from "./pyramid-options.ts";

type Reading = Pick<PyramidOptions, "axes" | "signal">;

/**
 * Checks that a group without an image may be a geographic data set.
 *
 * @throws `invalid-option` for a plate, a well, and other groups whose metadata name images below; for `axes`, because
 *   the arrays of a data set name their own
 */
export async function assertMayBeDataSet(group: ZarrGroup, { axes, signal }: Reading): Promise<void> {
  const kind = kindOf(group);
  if (kind !== undefined) {
    const image = await firstImage(group, signal);
    throw new ZarrflowError("invalid-option", `this is ${kind}`, {
      path: group.path,
      expected: "an image, or arrays with dimensions such as latitude and longitude, or y and x",
      hint: image === undefined ? "Name one of its images." : `Name one image, such as ${image}.`,
    });
  }
  if (axes === undefined) return;
  throw new ZarrflowError("invalid-option", "axes are of an array, and this is a group without an image", {
    path: group.path,
    hint: "Name one array, or leave out --axes (in code axes): the arrays of a data set name their dimensions.",
  });
}

/** Kind of an OME-Zarr group that is not an image itself, in words; undefined for other groups. */
function kindOf({ path, metadata: { attributes } }: ZarrGroup): string | undefined {
  const ome = omeOf(attributes);
  if (ome === undefined) return undefined;
  const has = (name: string, inside: string) => {
    const value = member(ome.metadata, name);
    return isObject(value) && Array.isArray(member(value, inside));
  };
  const isOwn = isObject(member(attributes, OME)) && ome.metadata !== attributes;
  if (has("plate", "wells")) return "a plate";
  if (has("well", "images")) return "a well of a plate";
  if (member(ome.metadata, "bioformats2raw.layout") !== undefined) return "a collection of images";
  if (isOwn && member(ome.metadata, SCENE) !== undefined) return "a scene of several images";
  const areLabels = Array.isArray(member(ome.metadata, "labels"));
  return areLabels && (isOwn || lastName(path) === "labels") ? "a list of labels" : undefined;
}

/** Path, below a group, of the first image that its metadata name, directly or through the groups that they name. */
async function firstImage(group: ZarrGroup, signal: AbortSignal | undefined): Promise<string | undefined> {
  const { store, spec, reading, layout } = group;
  const open = (path: string) =>
    openNode(store, joinKey(group.path, path), { ...reading, spec, zarrFormat: layout.zarrFormat, signal });
  const { paths = [], seriesIn } = omeMembers(group.metadata.attributes) ?? {};
  if (seriesIn !== undefined) return omeSeries(attributesOf(await open(seriesIn)))?.[0] ?? "0";
  const [first] = paths;
  const node = first === undefined ? undefined : await open(first);
  const [inner] = node?.kind === "group" && kindOf(node) ? (omeMembers(attributesOf(node))?.paths ?? []) : [];
  return first && inner ? `${first}/${inner}` : first;
}

function attributesOf(node: ZarrNode | undefined) {
  return node?.metadata.attributes ?? {};
}
