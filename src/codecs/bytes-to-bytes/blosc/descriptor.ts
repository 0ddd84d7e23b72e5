import { type CodecDescriptor, describeValues } from "../../descriptor.ts";
import { assertNoMore, parseLevel } from "../../option-parts.ts";

/** Compressors that blosc applies to blocks. */
export const INNER_CODECS = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] as const;
export const BLOSC_SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"] as const;

export const blosc = {
  name: "blosc",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v1: "blosc", v2: "blosc", v3Draft: "blosc", v3: "blosc", alsoV3: ["numcodecs.blosc"] },
  settings: ["cname", "clevel", "shuffle", "typesize", "blocksize"],
  costClass: ({ cname }) => (cname === "zstd" ? "zstd" : cname === "zlib" ? "deflate" : "lz4"),
  decodesParts: ({ cname }) => String(cname).startsWith("lz4"),
  describe: describeValues("cname", "clevel", "shuffle"),
  parseOption([cname = "lz4", clevel = "5", shuffle = "shuffle", ...more]) {
    assertNoMore(more);
    return { cname, clevel: parseLevel(clevel), shuffle, blocksize: 0 };
  },
  allowed: { cname: INNER_CODECS, clevel: [0, 9], shuffle: BLOSC_SHUFFLES },
  engines: { node: "kernels, `node:zlib` for zlib", browser: "kernels, fflate for zlib" },
  load: async () => (await import("./codec.ts")).createBlosc,
} as const satisfies CodecDescriptor;
