import { createHash, createHmac } from "node:crypto";
import type { Digests } from "./digests.ts";

export const nodeDigests: Digests = {
  sha256: (text) => createHash("sha256").update(text).digest(),
  hmac: (key, text) => createHmac("sha256", key).update(text).digest(),
};
