import type { CodecConfig } from "../meta/array-metadata.ts";
import { canonicalConfiguration } from "../meta/v2/configuration.ts";
import { parseV3Codec } from "../meta/v3/codec.ts";
import { ZarrflowError } from "../util/errors.ts";
import { fromPlain, type JsonObject, type JsonValue, toPlain } from "../util/json-value.ts";
import { nearestName } from "../util/names.ts";
import {
  addCodec,
  BUILTIN_CODECS,
  codecNamed,
  type NewCodec,
  nameOfV2,
  nameOfV3,
  type ObjectCodecName,
} from "./catalog.ts";
import type { BytesToBytesCodec, Codec, CodecContext, CodecFactory, NestingCodecFactory } from "./codec.ts";
import type { CodecKind } from "./descriptor.ts";
import { foreignSizeBound, overrun } from "./limits.ts";

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
  throw new ZarrflowError("codec-error", "the codec is not of the kind it was registered with", {
    codec: name,
    expected: stated,
    found: kind,
  });
}

/** A codec with the interface of the numcodecs package: whole buffers in, whole buffers out. */
export interface NumcodecsCodec {
  encode(data: Uint8Array): Uint8Array | Promise<Uint8Array>;
  decode(data: Uint8Array, out?: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** The class of a codec as the numcodecs package exports it, or an object with the same interface. */
export interface NumcodecsClass {
  readonly codecId?: string;
  /** Creates the codec from a configuration in the form of Zarr v2. */
  fromConfig(config: { id: string }): NumcodecsCodec | Promise<NumcodecsCodec>;
}

export function isNumcodecsClass(value: unknown): value is NumcodecsClass {
  const isHolder = typeof value === "function" || (typeof value === "object" && value !== null);
  return isHolder && "fromConfig" in value && typeof value.fromConfig === "function";
}

/**
 * Adapts such a codec. Its decoded output must fit the size that the metadata promise, its encoded output twice its
 * input plus 64 KiB. It allocates its own buffers, so this can be checked only afterwards.
 *
 * @throws `invalid-metadata` if it rejects the configuration.
 */
export async function fromNumcodecsClass(
  numcodecs: NumcodecsClass,
  name: string,
  configuration: JsonObject,
): Promise<BytesToBytesCodec> {
  const codec = await configured(numcodecs, { ...toPlain(configuration), id: name });
  return {
    kind: "bytes-to-bytes",
    name,
    maxEncodedSize: foreignSizeBound,
    async encodeInto(source, target) {
      const encoded = assertBytes(await codec.encode(source));
      if (encoded.length > target.length) {
        throw new ZarrflowError("codec-error", "the codec returned more than twice its input", {
          expected: `at most ${target.length}`,
          found: encoded.length,
        });
      }
      target.set(encoded);
      return encoded.length;
    },
    async decodeInto(source, target) {
      const decoded = assertBytes(await codec.decode(source));
      if (decoded.length > target.length) throw overrun(target.length);
      target.set(decoded);
      return decoded.length;
    },
  };
}

async function configured(numcodecs: NumcodecsClass, config: { id: string }): Promise<NumcodecsCodec> {
  try {
    return await numcodecs.fromConfig(config);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ZarrflowError(
      "invalid-metadata",
      `the codec rejects its configuration: ${reason}`,
      {},
      { cause },
    );
  }
}

function assertBytes(result: unknown): Uint8Array {
  if (ArrayBuffer.isView(result)) return new Uint8Array(result.buffer, result.byteOffset, result.byteLength);
  throw new ZarrflowError("codec-error", "the codec did not return bytes");
}

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
