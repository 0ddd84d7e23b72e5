import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { axesFromAbove } from "../../hierarchy/open/axes-from-above.ts";
import { isFixed } from "../../meta/data-type.ts";
import { describeCodec } from "../../meta/describe.ts";
import { withAxes } from "../../meta/dimension-names.ts";
import { writeFillV3 } from "../../meta/v3/fill-value.ts";
import { fromPlain } from "../../util/json-plain.ts";
import { writeJson } from "../../util/json-write.ts";
import { isDrawn, numberDecoding } from "./decoding.ts";
import { describeImage, type ViewedImage } from "./describe-image.ts";

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
