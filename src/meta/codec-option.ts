import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { parseJson } from "../util/json-parse.ts";
import type { JsonObject } from "../util/json-value.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { CodecConfig } from "./array-metadata.ts";
import { expectObject } from "./expect.ts";
import { parseV2Codec } from "./v2-codec.ts";
import { parseV3Codec } from "./v3-codec.ts";
import { innerCodecs } from "./v3-sharding.ts";

const COMPRESSORS = ["blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"];
const BLOSC_CODECS = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

/**
 * A compressor as people ask for it: `none`, `zstd`, `zstd:5`, `gzip:1`, `blosc`, `blosc:zstd:5:bitshuffle`, or
 * JSON in v2 form (`{"id": "zstd", "level": 5}`) or v3 form (`{"name": "zstd", "configuration": {...}}`).
 *
 * @returns the codec in its normal form; undefined for `none`
 * @throws `invalid-option` with the nearest name.
 */
export function parseCodec(text: string): CodecConfig | undefined {
  const trimmed = text.trim();
  if (trimmed === "none") return undefined;
  if (trimmed.startsWith("{")) return fromJson(trimmed);
  const [name = "", ...rest] = trimmed.split(":");
  if (name === "blosc") return blosc(rest, text);
  if (!COMPRESSORS.includes(name)) throw unknown(name, COMPRESSORS);
  const [level, ...more] = rest;
  if (more.length > 0) throw invalid(`\`${text}\` has too many parts`);
  return { name, configuration: withDefaults(name, level === undefined ? undefined : integer(level, text)) };
}

function blosc(parts: readonly string[], text: string): CodecConfig {
  const [cname = "lz4", clevel = "5", shuffle = "shuffle", ...more] = parts;
  if (!BLOSC_CODECS.includes(cname)) throw unknown(cname, BLOSC_CODECS);
  const shuffles = ["noshuffle", "shuffle", "bitshuffle"];
  if (!shuffles.includes(shuffle)) throw unknown(shuffle, shuffles);
  if (more.length > 0) throw invalid(`\`${text}\` has too many parts`);
  return { name: "blosc", configuration: { cname, clevel: integer(clevel, text), shuffle, blocksize: 0 } };
}

/** The configuration that a bare name stands for: numcodecs' own defaults, but zstd at 3. */
function withDefaults(name: string, level: number | undefined): JsonObject {
  switch (name) {
    case "lz4":
      return { acceleration: level ?? 1 };
    case "lzma":
      return { format: 1, check: -1, preset: level ?? null, filters: null };
    case "zstd":
      return { level: level ?? 3 };
    default:
      return { level: level ?? (name === "gzip" ? 5 : 1) };
  }
}

function fromJson(text: string): CodecConfig {
  try {
    const json = expectObject(parseJson(new TextEncoder().encode(text)), "");
    return Object.hasOwn(json, "id") ? parseV2Codec(json, "") : parseV3Codec(json, "");
  } catch (error) {
    if (!isZarrflowError(error, "invalid-metadata")) throw error;
    throw invalid(`\`${text}\` is no codec: ${error.message}`);
  }
}

/** The codec list with its compressors replaced by one, or by none; filters and checksums stay. In shards too. */
export function withCompressor(
  codecs: readonly CodecConfig[],
  compressor: CodecConfig | undefined,
): readonly CodecConfig[] {
  const shards = codecs.findIndex(({ name }) => name === "sharding_indexed");
  if (shards >= 0)
    return codecs.map((codec, i) => (i === shards ? withInnerCompressor(codec, compressor) : codec));
  const isCompressor = ({ name }: CodecConfig) => COMPRESSORS.includes(name) || name === "v1.gzip";
  const first = codecs.findIndex(isCompressor);
  const place = first < 0 ? codecs.length : first;
  const kept = codecs.filter((codec) => !isCompressor(codec));
  return compressor ? [...kept.slice(0, place), compressor, ...kept.slice(place)] : kept;
}

function withInnerCompressor(
  { name, configuration }: CodecConfig,
  compressor: CodecConfig | undefined,
): CodecConfig {
  const inner = withCompressor(innerCodecs(configuration.codecs), compressor);
  const codecs = inner.map((codec) => ({ name: codec.name, configuration: codec.configuration }));
  return { name, configuration: { ...configuration, codecs } };
}

function integer(text: string, whole: string): number {
  if (!/^-?\d+$/.test(text)) throw invalid(`\`${text}\` in \`${whole}\` is no whole number`);
  return Number(text);
}

function unknown(name: string, names: readonly string[]): ZarrflowError {
  const near = nearestName(name, names);
  return invalid(
    `\`${name}\` is not known here; it can be ${names.join(", ")}`,
    near && `did you mean \`${near}\`?`,
  );
}

function invalid(reason: string, hint?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, {
    hint: hint ?? "write --codec zstd:5, blosc:lz4:5:shuffle or none",
  });
}
