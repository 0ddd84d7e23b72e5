import { type CodecDescriptor, describeValues, TYPESCRIPT } from "../../descriptor.ts";
import { levelOption } from "../../option-parts.ts";

export const bz2 = {
  name: "bz2",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v1: "bz2", v2: "bz2", v3Draft: "bz2", v3: "numcodecs.bz2" },
  costClass: "other",
  describe: describeValues("level"),
  parseOption: levelOption(1),
  allowed: { level: [1, 9] },
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createBz2,
} as const satisfies CodecDescriptor;
