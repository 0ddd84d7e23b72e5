import { type CodecDescriptor, describeValues } from "../../descriptor.ts";
import { levelOption } from "../../option-parts.ts";

const deflate = {
  kind: "bytes-to-bytes",
  role: "compressor",
  costClass: "deflate",
  engines: { node: "`node:zlib`", browser: "fflate" },
} as const satisfies Partial<CodecDescriptor>;

export const gzip = {
  ...deflate,
  name: "gzip",
  aliases: { v2: "gzip", v3Draft: "gzip", v3: "gzip", alsoV3: ["numcodecs.gzip"] },
  settings: ["level"],
  describe: describeValues("level"),
  parseOption: levelOption(5),
  allowed: { level: [-1, 9] },
  load: async () => (await import("./codec.ts")).loadGzip(),
} as const satisfies CodecDescriptor;

export const zlib = {
  ...deflate,
  name: "zlib",
  aliases: { v1: "zlib", v2: "zlib", v3Draft: "zlib", v3: "numcodecs.zlib" },
  describe: describeValues("level"),
  parseOption: levelOption(1),
  allowed: { level: [-1, 9] },
  load: async () => (await import("./codec.ts")).loadZlib(),
} as const satisfies CodecDescriptor;

/** The codec that v1 calls `gzip`. */
export const v1Gzip = {
  ...deflate,
  name: "v1.gzip",
  aliases: { v1: "gzip" },
  load: async () => (await import("./codec.ts")).loadV1Gzip(),
} as const satisfies CodecDescriptor;
