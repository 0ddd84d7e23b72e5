import { type CodecDescriptor, KERNEL } from "../../descriptor.ts";
import { levelOption } from "../../option-parts.ts";

export const lz4 = {
  name: "lz4",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v2: "lz4", v3Draft: "lz4", v3: "numcodecs.lz4" },
  costClass: "lz4",
  decodesParts: () => true,
  parseOption: levelOption(1, "acceleration"),
  allowed: { acceleration: [1, 65_537] },
  engines: KERNEL,
  load: async () => (await import("./codec.ts")).createLz4,
} as const satisfies CodecDescriptor;
