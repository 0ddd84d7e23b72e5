import { type CodecDescriptor, describeValues, TYPESCRIPT } from "../../descriptor.ts";

export const transpose = {
  name: "transpose",
  kind: "array-to-array",
  role: "filter",
  aliases: { v3: "transpose" },
  settings: ["order"],
  parts: [{ setting: "order", is: "numbers", isNeeded: true }],
  costClass: "none",
  describe: describeValues("order"),
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createTranspose,
} as const satisfies CodecDescriptor;
