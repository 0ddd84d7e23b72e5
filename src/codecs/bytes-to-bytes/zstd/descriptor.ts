import { type CodecDescriptor, describeValues } from "../../descriptor.ts";
import { levelOption } from "../../option-parts.ts";

export const zstd = {
  name: "zstd",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v2: "zstd", v3Draft: "zstd", v3: "zstd", alsoV3: ["numcodecs.zstd"] },
  settings: ["level", "checksum"],
  costClass: "zstd",
  describe: describeValues("level"),
  parseOption: levelOption(3),
  allowed: { level: [-131_072, 22] },
  engines: { node: "kernel; Node's own from 22.15", browser: "kernel" },
  load: async () => (await import("./codec.ts")).loadZstdCodec(),
} as const satisfies CodecDescriptor;
