import { type CodecDescriptor, KERNEL, TYPESCRIPT } from "../../descriptor.ts";

const checksum = {
  kind: "bytes-to-bytes",
  role: "checksum",
  parts: [],
  costClass: "none",
  engines: TYPESCRIPT,
} as const satisfies Partial<CodecDescriptor>;

export const adler32 = {
  ...checksum,
  name: "adler32",
  aliases: { v2: "adler32", v3: "numcodecs.adler32" },
  load: async () => (await import("./codec.ts")).createAdler32,
} as const satisfies CodecDescriptor;

export const crc32 = {
  ...checksum,
  name: "crc32",
  aliases: { v2: "crc32", v3: "numcodecs.crc32" },
  load: async () => (await import("./codec.ts")).createCrc32,
} as const satisfies CodecDescriptor;

export const crc32c = {
  ...checksum,
  name: "crc32c",
  aliases: { v2: "crc32c", v3: "crc32c", alsoV3: ["numcodecs.crc32c"] },
  settings: [],
  engines: KERNEL,
  load: async () => (await import("./codec.ts")).createCrc32c,
} as const satisfies CodecDescriptor;

export const fletcher32 = {
  ...checksum,
  name: "fletcher32",
  aliases: { v2: "fletcher32", v3: "numcodecs.fletcher32" },
  load: async () => (await import("./codec.ts")).createFletcher32,
} as const satisfies CodecDescriptor;

export const jenkinsLookup3 = {
  ...checksum,
  name: "jenkins_lookup3",
  aliases: { v2: "jenkins_lookup3", v3: "numcodecs.jenkins_lookup3" },
  costClass: "other",
  load: async () => (await import("./codec.ts")).createJenkinsLookup3,
} as const satisfies CodecDescriptor;
