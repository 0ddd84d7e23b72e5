import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

/** `packbits` of v3. The filter of the same name in numcodecs is a different codec. */
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
