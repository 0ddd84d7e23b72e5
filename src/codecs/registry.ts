import type { CodecConfig } from "../meta/array-metadata.ts";
import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { Codec, CodecContext, CodecFactory, NestingCodecFactory } from "./codec.ts";
import type { CodecKind } from "./descriptor.ts";
import { addCodec, BUILTIN_CODECS, codecNamed, type NewCodec } from "./descriptors.ts";
import { fromNumcodecsClass, isNumcodecsClass, type NumcodecsClass } from "./numcodecs-codec.ts";

/** Fetches a factory when the codec is first wanted, so that its code is loaded on use. */
export type CodecLoader = () => Promise<CodecFactory | NestingCodecFactory | NumcodecsClass>;

const codecs = new Map<string, CodecFactory | CodecLoader | NumcodecsClass>(
  BUILTIN_CODECS.map(({ name, load }) => [name, load as CodecLoader]),
);

/**
 * Makes a codec known, in place of the one that had its name.
 *
 * @param descriptor its name, or a description: what it takes and gives (`kind`), what it is for (`role`), and its names
 *   in each format (`aliases`). By default it turns bytes into bytes, and has the same name in v2 and v3. Where it does
 *   not say what it is for, it is taken for a compressor, which `codec: "zstd"` replaces and `codec: "none"` removes,
 *   unless a document of v2 lists it among its filters.
 * @param codec a factory; a class as the package numcodecs has them; or a function without arguments that fetches one.
 * @throws `invalid-option` where another codec has one of its names in v2 or v3.
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

/** Codecs that are made by the program alone, for one array: no document can name them. */
const ownCodecs = new WeakMap<CodecConfig, CodecFactory>();

/** A codec of the program's own, as the first of an array's codecs. */
export function ownCodec(config: CodecConfig, make: CodecFactory): CodecConfig {
  ownCodecs.set(config, make);
  return config;
}

/** Other threads do not know them. */
const registered = new Set<string>();
const statedKinds = new Map<string, CodecKind | undefined>();

/** Names under which the program has registered codecs. */
export function registeredCodecs(): string[] {
  return [...registered];
}

/** Normal names of all codecs that can be made. */
export function codecNames(): string[] {
  return [...codecs.keys()].sort();
}

/**
 * The codec of `config`, for its place in a chain.
 *
 * @throws `unsupported-codec` when the name is not known, with the nearest that is, or refused; `invalid-metadata` when
 *   the configuration is not the codec's.
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

/** @throws `codec-error` where a codec is of another kind than the program said as it registered it. */
function assertKind({ kind }: Codec, name: string): void {
  const stated = statedKinds.get(name);
  if (stated === undefined || stated === kind) return;
  throw new ZarrflowError("codec-error", "the codec has another kind than it was registered with", {
    codec: name,
    expected: stated,
    found: kind,
  });
}
