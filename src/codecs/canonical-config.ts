import type { CodecConfig } from "../meta/array-metadata.ts";
import { canonicalConfiguration } from "../meta/v2/codecs.ts";
import { parseV3Codec } from "../meta/v3/codec.ts";
import { ZarrflowError } from "../util/errors.ts";
import { fromPlain, type JsonObject, type JsonValue } from "../util/json-value.ts";
import { nameOfV2, nameOfV3, type ObjectCodecName } from "./catalog.ts";

/** A codec in the form of Zarr v2, `{ id, ... }`, or of v3: `{ name, configuration? }` or the bare name. */
export type CodecJson =
  | string
  | { readonly name: string; readonly configuration?: object | undefined }
  | { readonly id: string; readonly [name: string]: unknown };

/** A codec that encodes values, not bytes. */
export type ObjectCodecJson =
  | ObjectCodecName
  | {
      readonly name: ObjectCodecName | `numcodecs.${ObjectCodecName}`;
      readonly configuration?: object | undefined;
    }
  | { readonly id: ObjectCodecName; readonly [name: string]: unknown };

const V3_PREFIX = "numcodecs.";

/**
 * The normal form of a codec given in either way.
 *
 * @throws `invalid-option`
 */
export function canonicalConfig(json: CodecJson): CodecConfig {
  if (typeof json === "string") return fromV3(json);
  if ("id" in json && typeof json.id === "string") {
    const { id, ...configuration } = json;
    return fromNumcodecs(id, asJson(configuration));
  }
  if ("name" in json && typeof json.name === "string") {
    const { name, configuration = {} } = json;
    if (!name.startsWith(V3_PREFIX) || nameOfV3(name) !== undefined)
      return fromV3({ name, configuration: asJson(configuration) });
    return fromNumcodecs(name.slice(V3_PREFIX.length), asJson(configuration));
  }
  throw new ZarrflowError("invalid-option", "a codec needs an `id` or a `name`");
}

function fromV3(json: JsonValue): CodecConfig {
  const { name, configuration } = parseV3Codec(json, "");
  return { name, configuration };
}

function fromNumcodecs(id: string, configuration: JsonObject): CodecConfig {
  const name = nameOfV2(id) ?? id;
  return { name, configuration: canonicalConfiguration(name, configuration) };
}

function asJson(value: unknown): JsonObject {
  return fromPlain(value) as JsonObject;
}
