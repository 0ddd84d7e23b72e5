import { type CodecDescriptor, describeValues, TYPESCRIPT } from "../../descriptor.ts";

/** The layout of variable data in ZEP 7. Documents do not name it: the data type implies it. */
export const zep0007 = {
  name: "zep0007",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: {},
  costClass: "other",
  describe: describeValues("offset_size"),
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createZep0007,
} as const satisfies CodecDescriptor;
