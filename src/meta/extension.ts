import { pointerTo } from "../util/json-pointer.ts";
import type { JsonObject, JsonValue } from "../util/json-value.ts";
import {
  assertObject,
  assertString,
  invalid,
  isObject,
  member,
  memberOr,
  refusal,
  required,
} from "./assert-json.ts";

/** A point where Zarr v3 is extended: a codec, data type, grid or key encoding, by name. */
export interface Extension {
  readonly name: string;
  readonly configuration: JsonObject;
  /** Whether a reader must give up when it does not know the name. */
  readonly mustUnderstand: boolean;
  /** Pointer of the whole. */
  readonly pointer: string;
  /** Members beyond the three that are defined. */
  readonly others: readonly string[];
}

/** Reads a bare name or `{ name, configuration?, must_understand? }`. @throws `invalid-metadata` */
export function parseExtension(value: JsonValue, pointer: string): Extension {
  if (typeof value === "string") {
    return { name: value, configuration: {}, mustUnderstand: true, pointer, others: [] };
  }
  const object = assertObject(value, pointer);
  const name = assertString(required(object, "name", pointer), pointerTo(pointer, "name"));
  const configuration = memberOr(object, "configuration", {});
  const mustUnderstand = memberOr(object, "must_understand", true);
  if (typeof mustUnderstand !== "boolean") {
    throw invalid(pointerTo(pointer, "must_understand"), "must be true or false", mustUnderstand);
  }
  return {
    name,
    configuration: assertObject(configuration, pointerTo(pointer, "configuration")),
    mustUnderstand,
    pointer,
    others: Object.keys(object).filter((key) => !["name", "configuration", "must_understand"].includes(key)),
  };
}

/**
 * Holds that the extension has no members but its own and, in its configuration, `known`; ones that say
 * `must_understand: false` are ignored.
 *
 * @throws `unsupported-extension` at the unknown name.
 */
export function assertNoOthers(
  value: JsonValue,
  { configuration, others, pointer }: Extension,
  known: readonly string[] = [],
): void {
  if (isObject(value)) assertKnown(value, others, pointer);
  const unknown = Object.keys(configuration).filter((name) => !known.includes(name));
  assertKnown(configuration, unknown, pointerTo(pointer, "configuration"));
}

/** @throws `unsupported-extension` at the first of `names` whose value does not say that it may be ignored. */
export function assertKnown(object: JsonObject, names: readonly string[], pointer: string): void {
  const refused = names.find((name) => !mayBeIgnored(member(object, name)));
  if (refused === undefined) return;
  throw refusal(
    "unsupported-extension",
    pointerTo(pointer, refused),
    `the member \`${refused}\` is not known`,
    member(object, refused),
    "Only an object with `must_understand: false` may be ignored.",
  );
}

function mayBeIgnored(value: JsonValue | undefined): boolean {
  return isObject(value) && member(value, "must_understand") === false;
}

/** The form in which extensions are written: an object, its configuration only where there is any. */
export function writeExtension(name: string, configuration: JsonObject = {}): JsonObject {
  return Object.keys(configuration).length === 0 ? { name } : { name, configuration };
}
