import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { axesFromAbove } from "../../hierarchy/open/above-on-use.ts";
import { isJsonObject, member } from "../../meta/assert-json.ts";
import { describeCodec } from "../../meta/codec-traits.ts";
import { multiscalesOf, objectsIn, omeOf } from "../../meta/conventions/ome/attributes.ts";
import { type Placement, placementOf } from "../../meta/conventions/ome/placement.ts";
import { isFixed } from "../../meta/data-type.ts";
import { withAxes } from "../../meta/dimension-names.ts";
import { writeFillV3 } from "../../meta/v3/fill-value.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { finiteNumber, fromPlain, type JsonObject, type JsonValue } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import { joinKey } from "../../util/node-path.ts";
import { isDrawn, numberDecoding } from "./read-numbers.ts";

/** Details of a node that a page shows, besides its values. */
export interface ViewedNode {
  readonly kind: "array" | "group";
  readonly zarrFormat: string;
  readonly findings: readonly string[];
  /** Names and values as text; long values are shortened. */
  readonly attributes: readonly (readonly [name: string, value: string])[];
  readonly array?: ViewedArray;
  readonly image?: ViewedImage;
}

export interface ViewedArray {
  readonly dataType: string;
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly innerChunkShape?: readonly number[];
  readonly dimensionNames: readonly (string | null)[];
  readonly codecs: readonly string[];
  /** As text; absent if the content of missing chunks is undefined. */
  readonly fillValue?: string;
  /** Bytes of an item; absent for items of varying size. */
  readonly itemSize?: number;
  readonly units?: string;
  readonly title?: string;
  /** True if its items are numbers. */
  readonly isDrawn: boolean;
  /** Stored numbers that mean "missing", as text. */
  readonly missing: readonly string[];
  readonly packing?: string;
}

const MAX_ATTRIBUTES = 500;
const MAX_LENGTH = 2000;

/** Describes a node from its metadata; the group of an image with its levels and channels. */
export async function describeViewed(
  node: ZarrNode,
  open: (path: string) => Promise<ZarrNode | undefined>,
  signal: AbortSignal,
): Promise<ViewedNode> {
  const attributes = Object.entries(node.attributes).slice(0, MAX_ATTRIBUTES);
  const image = node.kind === "group" ? await describeImage(node, open) : undefined;
  return {
    kind: node.kind,
    zarrFormat: node.layout.zarrFormat,
    findings: node.findings.map(({ message }) => message),
    attributes: attributes.map(([name, value]) => [
      name,
      shortened(typeof value === "string" ? value : jsonText(value)),
    ]),
    ...(node.kind === "array" && { array: await describeArray(node, signal) }),
    ...(image && { image }),
  };
}

async function describeArray(array: ZarrArray, signal: AbortSignal): Promise<ViewedArray> {
  const { metadata, attributes } = array;
  const { dataType, chunkGrid, fillValue, shape } = metadata;
  const { dimensionNames } = withAxes(metadata, await axesFromAbove(array, signal));
  const { innerChunkShape } = chunkGrid;
  const { missing, packing } = numberDecoding(array);
  const { units, long_name: long, standard_name: standard } = attributes;
  const title = [long, standard].find((name) => typeof name === "string");
  const fill = fillValue.bytes && writeFillV3(fillValue.bytes, dataType);
  return {
    dataType: array.dataType,
    shape,
    chunkShape: chunkGrid.chunkShape,
    ...(innerChunkShape && { innerChunkShape }),
    dimensionNames: dimensionNames ?? shape.map(() => null),
    codecs: metadata.codecs.map(describeCodec),
    ...(fill !== null &&
      fill !== undefined && { fillValue: shortened(writeJson(fill, { nonFinite: "token" })) }),
    ...(isFixed(dataType) && { itemSize: dataType.size }),
    ...(typeof units === "string" && { units: shortened(units) }),
    ...(typeof title === "string" && { title: shortened(title) }),
    isDrawn: isDrawn(metadata),
    missing: missing.map(String),
    ...(packing !== undefined && { packing }),
  };
}

function jsonText(value: unknown): string {
  const text = writeJson(fromPlain(value), { nonFinite: "token" });
  return text.length <= 60 ? text : writeJson(fromPlain(value), { nonFinite: "token", indent: 2 });
}

function shortened(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

/** An OME-Zarr image: its levels, and how its channels are shown. */
export interface ViewedImage {
  readonly axes: readonly { readonly name: string; readonly unit?: string }[];
  readonly levels: readonly ImageLevel[];
  readonly channels: readonly ImageChannel[];
  /** Initial position along each axis, if the image states it. */
  readonly first: Readonly<Record<string, number>>;
}

export interface ImageLevel {
  /** Path of its array in the store. */
  readonly path: string;
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly itemSize: number;
  readonly scale?: readonly number[];
  readonly translation?: readonly number[];
}

export interface ImageChannel {
  readonly label?: string;
  /** Six hexadecimal digits. */
  readonly color?: string;
  /** Values shown as black and as the full color. */
  readonly window?: readonly [number, number];
  readonly isActive: boolean;
}

const MAX_LEVELS = 32;
const MAX_CHANNELS = 64;

/** The first image of a group, with the levels that can be read; undefined if there is none. */
export async function describeImage(
  group: ZarrGroup,
  open: (path: string) => Promise<ZarrNode | undefined>,
): Promise<ViewedImage | undefined> {
  const { attributes } = group.metadata;
  const [image] = multiscalesOf(attributes);
  const axes = image?.axes;
  if (axes === undefined) return undefined;
  const levels: ImageLevel[] = [];
  for (const { path, transformations } of image?.levels.slice(0, MAX_LEVELS) ?? []) {
    const node = await openOrNothing(() => open(joinKey(group.path, path)));
    if (node?.kind !== "array" || node.shape.length !== axes.length || !isDrawn(node.metadata)) continue;
    const { dataType } = node.metadata;
    levels.push({
      path: node.path,
      shape: node.shape,
      chunkShape: node.chunkShape,
      itemSize: "size" in dataType ? dataType.size : 1,
      ...placed(transformations, axes.length),
    });
  }
  if (levels.length === 0) return undefined;
  const ome = omeOf(attributes)?.metadata ?? {};
  const [multiscale = {}] = objectsIn(member(ome, "multiscales"));
  const stated = objectsIn(member(multiscale, "axes"));
  const omero = member(ome, "omero");
  const rdefs = isJsonObject(omero) ? member(omero, "rdefs") : undefined;
  const defaults = Object.entries({ t: "defaultT", z: "defaultZ" }).flatMap(([axis, name]) => {
    const at = isJsonObject(rdefs) ? finiteNumber(member(rdefs, name)) : undefined;
    return at !== undefined && Number.isInteger(at) ? [[axis, at] as const] : [];
  });
  return {
    axes: axes.map((name, d) => {
      const unit = stated[d] && member(stated[d], "unit");
      return { name, ...(typeof unit === "string" && { unit }) };
    }),
    levels,
    channels: isJsonObject(omero)
      ? objectsIn(member(omero, "channels")).slice(0, MAX_CHANNELS).map(channelOf)
      : [],
    first: Object.fromEntries(defaults),
  };
}

function placed(transformations: JsonValue | undefined, rank: number): Partial<Placement> {
  try {
    return placementOf(transformations, rank) ?? {};
  } catch (error) {
    if (isZarrflowError(error, "unsupported-operation")) return {};
    throw error;
  }
}

/** Skips a level whose array is broken or absent, so that the others are shown. */
async function openOrNothing(open: () => Promise<ZarrNode | undefined>): Promise<ZarrNode | undefined> {
  try {
    return await open();
  } catch (error) {
    if (isZarrflowError(error) && error.exitCode === 4) return undefined;
    throw error;
  }
}

function channelOf(channel: JsonObject): ImageChannel {
  const [label, color, active] = ["label", "color", "active"].map((name) => member(channel, name));
  const limits = member(channel, "window");
  const [start, end] = ["start", "end"].map((name) =>
    isJsonObject(limits) ? finiteNumber(member(limits, name)) : undefined,
  );
  return {
    ...(typeof label === "string" && { label: label.slice(0, 200) }),
    ...(typeof color === "string" && /^[\da-f]{6}$/i.test(color) && { color }),
    ...(start !== undefined && end !== undefined && start < end && { window: [start, end] }),
    isActive: active !== false,
  };
}
