import { codecNamed, nameOfV2 } from "../../codecs/descriptors.ts";
import { jsonEqual } from "../../util/json-equal.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { assertObject, invalid, refusal } from "../assert-json.ts";
import type { Losses } from "../losses.ts";
import { canonicalConfiguration, isNumberAsText, numcodecsConfiguration } from "./configuration.ts";

/**
 * Reads one filter or compressor into its canonical form. Accepts unknown ids, but not `pickle`.
 *
 * @throws `invalid-metadata`, `unsupported-codec`.
 */
export function parseV2Codec(json: JsonValue, pointer: string): CodecConfig {
  const { id, ...configuration } = assertObject(json, pointer);
  const idPointer = `${pointer}/id`;
  if (typeof id !== "string") throw invalid(idPointer, "a codec needs an `id`", id);
  if (id === "pickle") {
    throw refusal(
      "unsupported-codec",
      idPointer,
      "reading `pickle` can run any code, so it is not supported",
      id,
    );
  }
  const name = nameOfV2(id);
  // The canonical name of a codec that v2 lacks.
  if (name === undefined && codecNamed(id) !== undefined) {
    throw refusal("unsupported-codec", idPointer, "the codec is not known", id);
  }
  return {
    name: name ?? id,
    configuration: canonicalConfiguration(id, configuration),
    stated: { zarrFormat: "v2", json, pointer: idPointer },
  };
}

/** Writes the v2 form of a codec. Keeps the original form if every reader still understands it in the same way. */
export function writeV2Codec(codec: CodecConfig, pointer: string, losses: Losses): JsonObject {
  const { stated } = codec;
  if (stated?.zarrFormat === "v2") {
    const parsed = parseV2Codec(stated.json, stated.pointer);
    const json = assertObject(stated.json, pointer);
    const hasText = Object.entries(json).some(([name, value]) => isNumberAsText(name, value));
    const isSame = parsed.name === codec.name && jsonEqual(parsed.configuration, codec.configuration);
    if (isSame && !hasText) return json;
  }
  const id = codecNamed(codec.name)?.aliases.v2;
  if (id === undefined) losses.require(pointer, `the codec \`${codec.name}\``);
  return { id: id ?? codec.name, ...numcodecsConfiguration(codec) };
}
