import { ZarrflowError } from "../util/errors.ts";
import { type JsonObject, toPlain } from "../util/json-value.ts";
import type { BytesToBytesCodec } from "./codec.ts";
import { foreignSizeBound, overrun } from "./limits.ts";

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
        throw new ZarrflowError("codec-error", "the codec returns more than twice its input", {
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
