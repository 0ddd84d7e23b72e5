import { ZarrflowError } from "../../../util/errors.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "../../../util/json-value.ts";
import { writeJson } from "../../../util/json-write.ts";
import { isObject, member } from "../../assert-json.ts";

/** Where the items of a level lie, along each axis: item `i` at `translation + i * scale`. */
export interface Placement {
  readonly scale: readonly number[];
  readonly translation: readonly number[];
}

/** What is taken of a level, along each dimension. */
export interface LevelCut {
  readonly start: readonly number[];
  readonly step: readonly number[];
}

/**
 * What a level's `coordinateTransformations` come to, those of a `sequence` among them; undefined where none are stated.
 *
 * @throws `unsupported-operation` for transformations that are not numbers for each axis.
 */
export function placementOf(transformations: JsonValue | undefined, rank: number): Placement | undefined {
  if (transformations === undefined) return undefined;
  if (!Array.isArray(transformations)) throw unknownTransformation(transformations);
  return transformations.flatMap(parts).reduce<Placement>(
    ({ scale, translation }, one) => {
      const factors = vectorOf(one, "scale", rank);
      const offsets = vectorOf(one, "translation", rank);
      if (factors === undefined && offsets === undefined && !isIdentity(one))
        throw unknownTransformation(one);
      const times = (values: readonly number[]) => values.map((value, d) => value * (factors?.[d] ?? 1));
      return {
        scale: times(scale),
        translation: times(translation).map((value, d) => value + (offsets?.[d] ?? 0)),
      };
    },
    { scale: new Array<number>(rank).fill(1), translation: new Array<number>(rank).fill(0) },
  );
}

/**
 * The transformations of a part of a level: its item 0 lies where the item `start` lay, and items are `step` times as far
 * apart. Numbers that stay the same stay as they were written; a transformation of 0.6 keeps its `input` and `output`.
 *
 * @throws as `placementOf`
 */
export function cutTransformations(
  transformations: JsonValue | undefined,
  { start, step }: LevelCut,
): JsonValue | undefined {
  const before = placementOf(transformations, start.length);
  const isWhole = start.every((at, d) => at === 0 && step[d] === 1);
  if (before === undefined || transformations === undefined || isWhole) return transformations;
  const scale = before.scale.map((size, d) => size * (step[d] ?? 1));
  const translation = before.translation.map((at, d) => at + (start[d] ?? 0) * (before.scale[d] ?? 1));
  const stated = Array.isArray(transformations) ? transformations : [];
  const written = stated.flatMap(parts);
  const isTranslated = written.some((one) => isOfType(one, "translation"));
  const isMoved = isTranslated || translation.some((at) => at !== 0);
  const numbers = {
    scale: asWritten(scale, written, "scale"),
    ...(isMoved && { translation: asWritten(translation, written, "translation") }),
  };
  return placing(numbers, stated);
}

/** Numbers that say where the items of a level lie. */
interface PlacingNumbers {
  readonly scale: readonly JsonValue[];
  readonly translation?: readonly JsonValue[];
}

/**
 * Transformations of a level in the form of others: since 0.6 a single one, with `input` and `output`, which is a `sequence`
 * where there is a translation.
 */
export function placing({ scale, translation }: PlacingNumbers, like: readonly JsonValue[]): JsonObject[] {
  const list: JsonObject[] = [
    { type: "scale", scale: [...scale] },
    ...(translation ? [{ type: "translation", translation: [...translation] }] : []),
  ];
  const [only] = like;
  if (like.length !== 1 || !isObject(only) || !isPlaced(only)) return list;
  const ends = Object.fromEntries(Object.entries(only).filter(([name]) => !NUMBERS.has(name)));
  const [one = {}] = list;
  return [list.length === 1 ? { ...one, ...ends } : { type: "sequence", ...ends, transformations: list }];
}

/** Members of a transformation that say what it does; the others say from where to where. */
const NUMBERS = new Set(["type", "scale", "translation", "transformations"]);

/** Whether a transformation says from where to where it leads, as all of 0.6 do. */
function isPlaced(transformation: JsonObject): boolean {
  return ["input", "output"].some((name) => member(transformation, name) !== undefined);
}

/** The transformations that one consists of: itself, or those of a `sequence`. */
function parts(transformation: JsonValue): JsonValue[] {
  if (!isObject(transformation) || !isOfType(transformation, "sequence")) return [transformation];
  const inner = member(transformation, "transformations");
  return Array.isArray(inner) ? inner.flatMap(parts) : [transformation];
}

/** Numbers as a transformation wrote them, where they are the same. */
function asWritten(values: readonly number[], written: readonly JsonValue[], type: string): JsonValue[] {
  const one = written.find((transformation) => isOfType(transformation, type));
  const old = isObject(one) ? member(one, type) : undefined;
  return values.map((value, d) => {
    const before = Array.isArray(old) ? old[d] : undefined;
    return before !== undefined && numberOf(before) === value ? before : value;
  });
}

function vectorOf(transformation: JsonValue, type: string, rank: number): number[] | undefined {
  if (!isObject(transformation) || !isOfType(transformation, type)) return undefined;
  const values = member(transformation, type);
  const numbers = Array.isArray(values) ? values.map(numberOf) : [];
  const finite = numbers.filter((value) => value !== undefined);
  return finite.length === rank && numbers.length === rank ? finite : undefined;
}

function isOfType(transformation: JsonValue, type: string): boolean {
  return isObject(transformation) && member(transformation, "type") === type;
}

function isIdentity(transformation: JsonValue): boolean {
  return isOfType(transformation, "identity");
}

/** A finite number, however it is written. */
export function numberOf(value: JsonValue | undefined): number | undefined {
  const number = value instanceof JsonNumber ? value.valueOf() : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

function unknownTransformation(found: JsonValue): ZarrflowError {
  return new ZarrflowError("unsupported-operation", "a level of an image has an unknown transformation", {
    expected: "a scale or a translation with one number for each axis",
    found: writeJson(found, { nonFinite: "token" }),
    hint: "Take one level instead of the image.",
  });
}
