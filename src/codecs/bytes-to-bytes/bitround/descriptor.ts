import { SIGNIFICAND } from "../../../util/significand.ts";
import { type CodecDescriptor, FLOATS, TYPESCRIPT } from "../../descriptor.ts";

export const bitround = {
  name: "bitround",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "bitround", v3: "numcodecs.bitround" },
  itemFilter: { encodes: FLOATS, most: { setting: "keepbits", bySize: SIGNIFICAND } },
  parts: [{ setting: "keepbits", is: "number", isNeeded: true }],
  allowed: { keepbits: [0, 52] },
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createBitround,
} as const satisfies CodecDescriptor;
