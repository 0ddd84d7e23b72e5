import { builtinCodecs } from "../../codecs/catalog.ts";
import { type JsonObject, type JsonValue, jsonEqual, pointerTo } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import {
  assertInteger,
  assertObject,
  assertString,
  invalidMetadata,
  member,
  memberOr,
  refusal,
  required,
} from "../assert-json.ts";
import type { Endian } from "../data-type.ts";
import type { Losses } from "../losses.ts";
import { type MemoryOrder, orderOf, transposesOf } from "../memory-order.ts";
import { canonicalConfiguration, numcodecsConfiguration } from "../v2/configuration.ts";
import type { DraftForm } from "./form.ts";

/** Compressors, by the last name of their URI. */
const IDS = builtinCodecs().flatMap(({ aliases }) => aliases.v3Draft ?? []);
const URI = /^https?:\/\/purl\.org\/zarr\/spec\/codec\/([a-z0-9]+)(?:\/1\.0)?$/;
const POINTER = "/compressor";

/** The members of a draft's array that define the encoding of a chunk. */
export interface DraftCoding {
  readonly order: MemoryOrder;
  readonly endian: Endian | undefined;
  /** null without a compressor. */
  readonly compressor: JsonValue;
}

/**
 * Builds the codec list: memory layout, byte order, compressor.
 *
 * @throws `unsupported-codec`, `invalid-metadata`.
 */
export function parseDraftCodecs(coding: DraftCoding, rank: number, form: DraftForm): CodecConfig[] {
  const { order, endian, compressor } = coding;
  const bytes: CodecConfig = { name: "bytes", configuration: endian ? { endian } : {} };
  const codecs = [...transposesOf(order, rank), bytes];
  return compressor === null ? codecs : [...codecs, parseCompressor(compressor, form)];
}

function parseCompressor(json: JsonValue, { name: zarrFormat }: DraftForm): CodecConfig {
  const object = assertObject(json, POINTER);
  const pointer = pointerTo(POINTER, "codec");
  const uri = assertString(required(object, "codec", POINTER), pointer);
  const [, id = ""] = URI.exec(uri) ?? [];
  if (!IDS.includes(id)) throw refusal("unsupported-codec", pointer, "the codec is not known", uri);
  const at = pointerTo(POINTER, "configuration");
  const configuration = canonicalConfiguration(id, assertObject(memberOr(object, "configuration", {}), at));
  if (id === "gzip") assertLevel(configuration, at);
  return { name: id, configuration, stated: { zarrFormat, json, pointer } };
}

/** Checks that the level of gzip, if present, is an integer from 0 to 9. */
function assertLevel(configuration: JsonObject, at: string): void {
  const level = member(configuration, "level");
  if (level === undefined) return;
  const pointer = pointerTo(at, "level");
  if (assertInteger(level, 0, pointer) > 9) throw invalidMetadata(pointer, "must be at most 9", level);
}

/** Writes a codec list as a draft's encoding; reports what the draft cannot represent. */
export function writeDraftCodecs(
  codecs: readonly CodecConfig[],
  rank: number,
  form: DraftForm,
  losses: Losses,
): DraftCoding {
  const pointerAt = (i: number) => codecs[i]?.stated?.pointer ?? pointerTo("/codecs", i);
  const toBytes = codecs.findIndex(({ name }) => name === "bytes");
  const last = codecs.length - 1;
  codecs.forEach(({ name }, i) => {
    const fits = i < toBytes ? name === "transpose" : i === toBytes || (i === last && IDS.includes(name));
    if (!fits) losses.require(pointerAt(i), `the codec \`${name}\` here`);
  });
  const order = orderOf(codecs, rank);
  if (order === undefined) losses.require(pointerAt(0), "an order other than C and F");
  const compressor = last > toBytes ? codecs[last] : undefined;
  const endian = codecs[toBytes]?.configuration.endian;
  return {
    order: order ?? "C",
    endian: endian === undefined ? undefined : endian === "big" ? "big" : "little",
    compressor: compressor ? writeCompressor(compressor, form) : null,
  };
}

/** Writes a compressor, keeping its original form in the draft if it still means the same. */
function writeCompressor(codec: CodecConfig, form: DraftForm): JsonValue {
  const { name, configuration, stated } = codec;
  if (stated?.zarrFormat === form.name) {
    const parsed = parseCompressor(stated.json, form);
    if (parsed.name === name && jsonEqual(parsed.configuration, configuration)) return stated.json;
  }
  return { codec: form.codecUri(name), configuration: numcodecsConfiguration(codec) };
}
