import { type CodecDescriptor, describeValues, KERNEL } from "../../descriptor.ts";

/** A draft of v3 called the codec `endian`. */
export const bytes = {
  name: "bytes",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: { v3: "bytes", alsoV3: ["endian"] },
  settings: ["endian"],
  parts: [{ setting: "endian", is: "word" }],
  allowed: { endian: ["little", "big"] },
  costClass: "none",
  describe: describeValues("endian"),
  engines: KERNEL,
  load: async () => (await import("./codec.ts")).createBytes,
} as const satisfies CodecDescriptor;
