import { ZarrflowError } from "../../../util/errors.ts";
import { JsonNumber } from "../../../util/json-value.ts";
import type { CodecFactory } from "../../codec.ts";
import { ConfigReader } from "../../config-reader.ts";
import { lookup3 } from "../../kernels/lookup3.ts";
import { checksumCodec } from "./checksum.ts";

/**
 * `jenkins_lookup3` of numcodecs: guards the bytes with the checksum of HDF5's metadata, behind them. `initval` starts
 * it; `prefix`, a list of bytes, is taken in before the bytes, and not stored.
 */
export const createJenkinsLookup3: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const initial = settings.integer("initval", 0, 2 ** 32 - 1, 0);
  const prefix = prefixOf(settings);
  const codec = checksumCodec("jenkins_lookup3", "end", (bytes) => {
    if (prefix.length === 0) return lookup3(bytes, initial);
    const all = new Uint8Array(prefix.length + bytes.length);
    all.set(prefix);
    all.set(bytes, prefix.length);
    return lookup3(all, initial);
  });
  if (prefix.length === 0) return codec;
  return { ...codec, scratchSize: (decodedSize) => prefix.length + decodedSize };
};

function prefixOf(settings: ConfigReader): Uint8Array {
  const prefix = settings.value("prefix") ?? [];
  const bytes = Array.isArray(prefix)
    ? prefix.map((byte) => (byte instanceof JsonNumber ? Number(byte.text) : byte))
    : [undefined];
  if (bytes.every((byte) => typeof byte === "number" && Number.isInteger(byte) && byte >= 0 && byte < 256)) {
    return Uint8Array.from(bytes as number[]);
  }
  throw new ZarrflowError("invalid-metadata", "`prefix` must be a list of bytes", {
    value: JSON.stringify(prefix),
  });
}
