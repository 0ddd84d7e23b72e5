import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import type { FillValue } from "../../meta/array-metadata.ts";
import { describeCodec } from "../../meta/codec-traits.ts";
import {
  FILL_VALUE_ATTRIBUTE,
  isVariableIn,
  missingValueOf,
  parseMissing,
  statedMissing,
} from "../../meta/conventions/missing-values.ts";
import { type DataType, sameDataType } from "../../meta/data-type.ts";
import { otherNames } from "../../meta/documents.ts";
import { itemJson, type ValueDifference } from "../../run/compare-values.ts";
import type { Store } from "../../stores/store.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { type JsonObject, jsonEqual, pointerTo, toPlain } from "../../util/json-value.ts";
import { sameNumbers } from "../../util/numbers.ts";
import { isFault } from "../validate/finding.ts";

/** A difference without the path of its node. */
type Found = Omit<Difference, "path">;

/** Compares the metadata of two nodes of one kind: first their meaning, then how they are stored. */
export function* compareMetadata(a: ZarrNode, b: ZarrNode): Generator<Found> {
  if (a.kind === "array" && b.kind === "array") yield* compareMeaning(a, b);
  yield* compareAttributes(otherAttributes(a, b), otherAttributes(b, a));
  if (a.layout.zarrFormat !== b.layout.zarrFormat)
    yield stored("zarrFormat", a.layout.zarrFormat, b.layout.zarrFormat);
  if (a.kind === "array" && b.kind === "array") yield* compareStorage(a, b);
}

/** True if the values of two arrays can be compared item by item. */
export function isComparable(a: ZarrArray, b: ZarrArray): boolean {
  return sameNumbers(a.shape, b.shape) && sameDataType(a.metadata.dataType, b.metadata.dataType);
}

function* compareMeaning(a: ZarrArray, b: ZarrArray): Generator<Found> {
  if (!sameNumbers(a.shape, b.shape)) yield meant("shape", a.shape, b.shape);
  const [from, to] = [a.metadata, b.metadata];
  const isOneType = sameDataType(from.dataType, to.dataType);
  if (!isOneType) yield meant("data type", a.dataType, b.dataType);
  if (isOneType && !sameFill(from.fillValue, to.fillValue)) {
    const texts = [fillText(from.fillValue, from.dataType), fillText(to.fillValue, to.dataType)] as const;
    // Missing chunks that read differently show up when values are compared.
    yield areVariablesOfTwoFormats(a, b) ? stored("fill value", ...texts) : meant("fill value", ...texts);
  }
  if (isOneType && areVariablesOfTwoFormats(a, b)) yield* compareMissing(a, b);
  const [names, otherNames] = [namesOf(a), namesOf(b)];
  if (!jsonEqual(names, otherNames)) yield meant("dimension names", names, otherNames);
}

/** Compares the values that CF readers treat as missing, which the two formats state in different places. */
function* compareMissing(a: ZarrArray, b: ZarrArray): Generator<Found> {
  const [missing, other] = [a, b].map(({ metadata, layout }) => missingValueOf(metadata, layout.zarrFormat));
  if (missing === undefined && other === undefined) return;
  if (missing && other && sameNumbers(missing, other)) return;
  const { dataType } = a.metadata;
  yield meant("missing value", missing && itemJson(missing, dataType), other && itemJson(other, dataType));
}

/** True if two arrays state missing values in different places: one in v2, one in v3, both with dimension names. */
function areVariablesOfTwoFormats(a: ZarrArray, b: ZarrArray): boolean {
  const formats = [a.layout.zarrFormat, b.layout.zarrFormat];
  const areTwo = formats.includes("v2") && formats.includes("v3");
  return areTwo && [a, b].every(({ metadata, layout }) => isVariableIn(metadata, layout.zarrFormat));
}

/** The attributes of a node, without a missing value that `compareMissing` compares. */
function otherAttributes(node: ZarrNode, other: ZarrNode): JsonObject {
  const { attributes } = node.metadata;
  const areArrays = node.kind === "array" && other.kind === "array";
  if (!areArrays || !areVariablesOfTwoFormats(node, other)) return attributes;
  const stated = statedMissing(attributes);
  const isRead = stated !== undefined && parseMissing(stated, node.metadata.dataType) !== undefined;
  return isRead ? otherNames(attributes, [FILL_VALUE_ATTRIBUTE]) : attributes;
}

function* compareAttributes(a: JsonObject, b: JsonObject): Generator<Found> {
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const [value, other] = [a, b].map((attributes) =>
      Object.hasOwn(attributes, name) ? attributes[name] : undefined,
    );
    if (value !== undefined && other !== undefined && jsonEqual(value, other)) continue;
    const [plain, otherPlain] = [value, other].map((json) => json !== undefined && toPlain(json));
    yield {
      ...meant(
        "attribute",
        plain === false ? undefined : plain,
        otherPlain === false ? undefined : otherPlain,
      ),
      pointer: pointerTo("/attributes", name),
    };
  }
}

function* compareStorage(a: ZarrArray, b: ZarrArray): Generator<Found> {
  const { chunkGrid: from } = a.metadata;
  const { chunkGrid: to } = b.metadata;
  if (!sameNumbers(from.chunkShape, to.chunkShape)) yield stored("chunks", from.chunkShape, to.chunkShape);
  const [inner, otherInner] = [from.innerChunkShape ?? [], to.innerChunkShape ?? []];
  if (!sameNumbers(inner, otherInner)) yield stored("inner chunks", inner, otherInner);
  const [codecs, otherCodecs] = [a, b].map(({ metadata }) => metadata.codecs.map(describeCodec));
  if (!jsonEqual(codecs ?? [], otherCodecs ?? [])) yield stored("codecs", codecs, otherCodecs);
}

function meant(what: Difference["what"], a: unknown, b: unknown): Found {
  return { what, counts: true, a, b };
}

function stored(what: Difference["what"], a: unknown, b: unknown): Found {
  return { what, counts: false, a, b };
}

function sameFill({ bytes: a }: FillValue, { bytes: b }: FillValue): boolean {
  return a === null || b === null ? a === b : sameNumbers(a, b);
}

/** A fill value as JSON text; null if missing chunks are undefined. */
export function fillText({ bytes }: FillValue, dataType: DataType): string | null {
  return bytes && itemJson(bytes, dataType);
}

/** A name or null for each dimension. */
function namesOf({ shape, dimensionNames }: ZarrArray): (string | null)[] {
  return shape.map((_, d) => dimensionNames?.[d] ?? null);
}

/** One difference between two nodes. */
export interface Difference {
  /** Path of the node, below both roots. */
  readonly path: string;
  readonly what:
    | "node"
    /** A node that cannot be read on one or both sides, and was not compared. */
    | "broken"
    /** Stored keys or bytes of a node that neither side supports. */
    | "stored bytes"
    | "shape"
    | "data type"
    | "fill value"
    /** The value that CF readers treat as missing, of an array in v2 and one in v3; as JSON text. */
    | "missing value"
    | "dimension names"
    | "attribute"
    | "values"
    /** A key that is neither a document nor a chunk: `path` is the key, `a` and `b` are its sizes. */
    | "key"
    | "zarrFormat"
    | "chunks"
    | "inner chunks"
    | "codecs";
  /** True if it makes the two sides different. Differences in storage count only with `strict`. */
  readonly counts: boolean;
  /** The first and the second side; undefined for nothing. */
  readonly a: unknown;
  readonly b: unknown;
  /** JSON pointer of an attribute. */
  readonly pointer?: string;
  /** Details of values that differ. */
  readonly values?: Omit<ValueDifference, "a" | "b">;
}

/** One side of a comparison. */
interface ComparedSide {
  readonly store: Store;
  readonly kind: string;
  readonly path?: string;
}

/**
 * Describes both sides of a failed comparison: the unreadable one by its error, the other by its kind.
 *
 * @throws the error itself if it says nothing about the stored data
 */
export function brokenStates(
  error: unknown,
  a: ComparedSide,
  b: ComparedSide,
): Pick<Difference, "counts" | "a" | "b"> {
  if (!isZarrflowError(error) || !(isFault(error) || error.code === "short-read")) throw error;
  const { store, path } = error.details;
  const isOf = (side: ComparedSide) =>
    store === side.store.description && (path === undefined || side.path === undefined || path === side.path);
  const [isOfA, isOfB] = [isOf(a), isOf(b)];
  const isOfOne = isOfA !== isOfB;
  return {
    counts: true,
    a: isOfOne && isOfB ? a.kind : error.message,
    b: isOfOne && isOfA ? b.kind : error.message,
  };
}
