import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

/** `packbits` of v3; the filter of numcodecs that has this name is another. */
export const bitPacking = {
  name: "v3.packbits",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: { v3: "packbits" },
  settings: ["padding_encoding", "first_bit", "last_bit"],
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createBitPacking,
} as const satisfies CodecDescriptor;
