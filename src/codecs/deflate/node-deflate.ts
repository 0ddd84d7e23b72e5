import { corrupt, overrun } from "../limits.ts";
import type { Deflate } from "./deflate.ts";

type NodeZlib = typeof import("node:zlib");

const SMALLEST_CHUNK = 64;

/** Implements deflate with Node's zlib. If the chunk size holds the whole output, zlib need not join pieces. */
export function nodeDeflate(zlib: NodeZlib): Deflate {
  const inflaters = { gzip: zlib.gunzipSync, zlib: zlib.inflateSync };
  const deflaters = { gzip: zlib.gzipSync, zlib: zlib.deflateSync };
  return {
    inflate(format, source, target) {
      const options = {
        info: true,
        maxOutputLength: Math.max(target.length, 1),
        chunkSize: Math.max(target.length, SMALLEST_CHUNK),
      };
      let result: WithEngine;
      try {
        result = inflaters[format](source, options) as unknown as WithEngine;
      } catch (error) {
        if (isTooLarge(error)) throw overrun(target.length);
        throw corrupt(`not valid ${format} data, or truncated`, {}, { cause: error });
      }
      const { buffer, engine } = result;
      // Zero bytes after gzip members are padding.
      const rest = source.subarray(engine.bytesWritten);
      if (format === "zlib" ? rest.length > 0 : rest.some((byte) => byte !== 0)) {
        throw corrupt(`extra bytes follow the end of the ${format} data`, {
          expected: engine.bytesWritten,
          found: source.length,
        });
      }
      if (buffer.length > target.length) throw overrun(target.length);
      target.set(buffer);
      return buffer.length;
    },
    deflate(format, source, target, level) {
      const encoded = deflaters[format](source, {
        level,
        chunkSize: Math.max(target.length, SMALLEST_CHUNK),
      });
      if (encoded.length > target.length) return 0;
      target.set(encoded);
      return encoded.length;
    },
  };
}

/** Result of Node's functions with the option `info`. */
interface WithEngine {
  readonly buffer: Uint8Array;
  /** `bytesWritten` counts the input that was consumed. */
  readonly engine: { readonly bytesWritten: number };
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}
