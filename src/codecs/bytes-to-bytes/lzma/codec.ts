import type { CodecFactory } from "../../codec.ts";
import { ConfigReader, type EncoderSetting, encoderSetting } from "../../config-reader.ts";
import { decodeLzma, type LzmaFormat } from "./decode.ts";
import { encodeLzma, encoderSpace, maxLzmaSize } from "./encode.ts";
import { type FilterChain, filterChain, presetChain } from "./filters.ts";

/** Formats by their number in Python. */
const FORMATS: readonly LzmaFormat[] = ["auto", "xz", "alone", "raw"];
const MAX_CHECK = 15;

/**
 * `lzma`: .xz, .lzma or raw LZMA, as in Python's `lzma`. Settings for writing are checked against the format only when
 * something is written, because other writers may state settings that they ignore.
 */
export const createLzma: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const format = FORMATS[settings.integer("format", 0, FORMATS.length - 1, 1)] ?? "xz";
  const check = encoderSetting(() => settings.integer("check", -1, MAX_CHECK, -1), -1);
  // Only `raw` needs the filters to decode; the other formats state them.
  const chain = format === "raw" ? certain(chainOf(settings, format)) : chainForEncoding(settings, format);
  return {
    kind: "bytes-to-bytes",
    name: "lzma",
    maxEncodedSize: (decodedSize) => maxLzmaSize(decodedSize, chain.value),
    scratchSize: (decodedSize) => encoderSpace(decodedSize, chain.value),
    assertEncodable: () => {
      check.check();
      chain.check();
    },
    encodeInto: (source, target) => encodeLzma(source, target, format, chain.value, check.value),
    decodeInto: (source, target) => decodeLzma(source, target, format, chain.value),
  };
};

function certain(chain: FilterChain): EncoderSetting<FilterChain> {
  return { value: chain, check() {} };
}

function chainForEncoding(settings: ConfigReader, format: LzmaFormat): EncoderSetting<FilterChain> {
  return encoderSetting(() => chainOf(settings, format), presetChain("lzma2", undefined));
}

/** @throws `invalid-metadata`, `unsupported-codec` */
function chainOf(settings: ConfigReader, format: LzmaFormat): FilterChain {
  const filters = settings.value("filters");
  if (filters !== undefined) return filterChain(filters);
  if (format === "raw") return filterChain([]);
  const preset = settings.value("preset") === undefined ? undefined : settings.number("preset");
  return presetChain(format === "alone" ? "lzma1" : "lzma2", preset);
}
