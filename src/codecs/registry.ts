import type { CodecConfig } from "../meta/array-metadata.ts";
import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/names.ts";
import { addCodec, BUILTIN_CODECS, codecNamed, type NewCodec } from "./catalog.ts";
import type { Codec, CodecContext, CodecFactory, NestingCodecFactory } from "./codec.ts";
import type { CodecKind } from "./descriptor.ts";
import { fromNumcodecsClass, isNumcodecsClass, type NumcodecsClass } from "./numcodecs-codec.ts";

/** Loads a factory on first use of the codec, so that unused code is not loaded. */
export type CodecLoader = () => Promise<CodecFactory | NestingCodecFactory | NumcodecsClass>;

const codecs = new Map<string, CodecFactory | CodecLoader | NumcodecsClass>(
  BUILTIN_CODECS.map(({ name, load }) => [name, load as CodecLoader]),
);

/**
 * Registers a codec. It replaces a codec of the same name.
 *
 * @param descriptor its name, or a description: input and output (`kind`), purpose (`role`), and names in each format
 *   (`aliases`). By default it converts bytes to bytes and has the same name in v2 and v3. Without a `role` it counts
 *   as a compressor, which `codec: "zstd"` replaces and `codec: "none"` removes, unless a v2 document lists it among
 *   its filters.
 * @param codec a factory; a class like those of the numcodecs package; or a function without arguments that loads one
 *   of these.
 * @throws `invalid-option` if another codec has one of its names in v2 or v3.
 * @example
 * ```ts
 * import { type BytesToBytesCodec, registerCodec } from "zarrflow/codecs";
 *
 * const codec: BytesToBytesCodec = {
 *   kind: "bytes-to-bytes",
 *   name: "invert",
 *   maxEncodedSize: (decodedSize) => decodedSize,
 *   fixedEncodedSize: (decodedSize) => decodedSize,
 *   encodeInto: invert,
 *   decodeInto: invert,
 * };
 * registerCodec({ name: "invert", role: "filter" }, () => codec);
 *
 * function invert(source: Uint8Array, target: Uint8Array): number {
 *   for (let i = 0; i < source.length; i++) target[i] = ~(source[i] ?? 0);
 *   return source.length;
 * }
 * ```
 * @example
 * ```ts
 * import { decodeBytes, encodeBytes, registerCodec } from "zarrflow/codecs";
 *
 * class Reverse {
 *   static readonly codecId = "reverse";
 *   static fromConfig(): Reverse {
 *     return new Reverse();
 *   }
 *   encode(data: Uint8Array): Uint8Array {
 *     return data.slice().reverse();
 *   }
 *   decode(data: Uint8Array): Uint8Array {
 *     return data.slice().reverse();
 *   }
 * }
 * registerCodec(Reverse.codecId, Reverse);
 *
 * const encoded = await encodeBytes({ id: "reverse" }, new Uint8Array([1, 2, 3]));
 * console.log((await decodeBytes({ id: "reverse" }, encoded)).join()); // 1,2,3
 * ```
 */
export function registerCodec(
  descriptor: string | NewCodec,
  codec: CodecFactory | CodecLoader | NumcodecsClass,
): void {
  const described = typeof descriptor === "string" ? { name: descriptor } : descriptor;
  const { name } = described;
  addCodec(described);
  codecs.set(name, codec);
  registered.add(name);
  statedKinds.set(name, described.kind);
}

/** Codecs that the program creates for one array; no document can name them. */
const ownCodecs = new WeakMap<CodecConfig, CodecFactory>();

/** Ties a codec that the program creates to its config, for use as the first codec of an array. */
export function ownCodec(config: CodecConfig, make: CodecFactory): CodecConfig {
  ownCodecs.set(config, make);
  return config;
}

/** Names of registered codecs, which other threads do not have. */
const registered = new Set<string>();
const statedKinds = new Map<string, CodecKind | undefined>();

/** Names that the program has registered. */
export function registeredCodecs(): string[] {
  return [...registered];
}

/** Normal names of all codecs that can be created. */
export function codecNames(): string[] {
  return [...codecs.keys()].sort();
}

/**
 * Creates the codec of `config` for its place in a chain.
 *
 * @throws `unsupported-codec` if the name is not supported or not known, with the nearest known name;
 *   `invalid-metadata` if the configuration is not valid for the codec.
 */
export async function makeCodec(config: CodecConfig, context: CodecContext): Promise<Codec> {
  const { name, configuration } = config;
  const own = ownCodecs.get(config);
  if (own) return own(configuration, context);
  const reason = codecNamed(name)?.refused;
  if (reason !== undefined && !codecs.has(name)) {
    throw new ZarrflowError("unsupported-codec", `the codec is not supported: ${reason}`, { codec: name });
  }
  const codec = codecs.get(name);
  if (codec === undefined) {
    const nearest = nearestName(name, codecs.keys());
    throw new ZarrflowError("unsupported-codec", "the codec is not known", {
      codec: name,
      hint: nearest ? `Did you mean \`${nearest}\`?` : `The known codecs are ${codecNames().join(", ")}.`,
    });
  }
  const made = isNumcodecsClass(codec) ? codec : await codec(configuration, context);
  if (isNumcodecsClass(made)) return fromNumcodecsClass(made, name, configuration);
  const result = typeof made === "function" ? await made(configuration, context) : made;
  assertKind(result, name);
  return result;
}

/** @throws `codec-error` if a codec is of another kind than it was registered with. */
function assertKind({ kind }: Codec, name: string): void {
  const stated = statedKinds.get(name);
  if (stated === undefined || stated === kind) return;
  throw new ZarrflowError("codec-error", "the codec has another kind than it was registered with", {
    codec: name,
    expected: stated,
    found: kind,
  });
}
