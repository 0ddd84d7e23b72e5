import { type CodecDescriptor, describeValues, TYPESCRIPT } from "../../descriptor.ts";

/** The layout of variable data in ZEP 7, which documents do not name: the data type says it. */
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
