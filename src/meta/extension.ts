import { type JsonObject, type JsonValue, pointerTo } from "../util/json-value.ts";
import {
  assertObject,
  assertString,
  invalidMetadata,
  isJsonObject,
  member,
  memberOr,
  refusal,
  required,
} from "./assert-json.ts";

/** A named extension of Zarr v3: a codec, data type, grid or key encoding. */
export interface Extension {
  readonly name: string;
  readonly configuration: JsonObject;
  /** True if readers that do not know the name must fail. */
  readonly mustUnderstand: boolean;
  /** Pointer to the extension. */
  readonly pointer: string;
  /** Members other than the three defined ones. */
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
    throw invalidMetadata(pointerTo(pointer, "must_understand"), "must be true or false", mustUnderstand);
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
 * Checks that the extension has no other members, and only `known` members in its configuration. Ignores objects with
 * `must_understand: false`.
 *
 * @throws `unsupported-extension` at the unknown name.
 */
export function assertNoOthers(
  value: JsonValue,
  { configuration, others, pointer }: Extension,
  known: readonly string[] = [],
): void {
  if (isJsonObject(value)) assertMayBeIgnored(value, others, pointer);
  const unknown = Object.keys(configuration).filter((name) => !known.includes(name));
  assertMayBeIgnored(configuration, unknown, pointerTo(pointer, "configuration"));
}

/** @throws `unsupported-extension` at the first of `names` whose value may not be ignored. */
export function assertMayBeIgnored(object: JsonObject, names: readonly string[], pointer: string): void {
  const refused = names.find((name) => !mayBeIgnored(member(object, name)));
  if (refused === undefined) return;
  throw refusal(
    "unsupported-extension",
    pointerTo(pointer, refused),
    `unknown member \`${refused}\``,
    member(object, refused),
    "Unknown members may be ignored only if they are objects with `must_understand: false`.",
  );
}

function mayBeIgnored(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && member(value, "must_understand") === false;
}

/** Writes an extension as an object, omitting an empty configuration. */
export function writeExtension(name: string, configuration: JsonObject = {}): JsonObject {
  return Object.keys(configuration).length === 0 ? { name } : { name, configuration };
}
