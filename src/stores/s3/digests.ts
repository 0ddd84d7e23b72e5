import { toHex } from "../../util/hex.ts";
import { builtin } from "../../util/platform.node.ts";

type Crypto = typeof import("node:crypto");
type Awaitable<T> = T | Promise<T>;

/** Digests that signatures are made of; text is UTF-8. */
export interface Digests {
  /** Returns hexadecimal digits. */
  sha256(text: string): Awaitable<string>;
  hmac(key: Uint8Array, text: string): Awaitable<Uint8Array>;
}

/**
 * Returns Node's digests, which are synchronous: a browser's take 200 us each, because they wait for another
 * thread, Node's 5 us.
 */
export const nodeDigests = () => digestsBy(builtin("node:crypto"));

function digestsBy(crypto: Crypto | undefined): Digests | undefined {
  return (
    crypto && {
      // in one call since Node 20.12
      sha256: (text) =>
        crypto.hash?.("sha256", text, "hex") ?? crypto.createHash("sha256").update(text).digest("hex"),
      hmac: (key, text) => crypto.createHmac("sha256", key).update(text).digest(),
    }
  );
}

const utf8 = new TextEncoder();

export const webDigests: Digests = {
  sha256: async (text) => toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8.encode(text)))),
  async hmac(key, text) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const imported = await crypto.subtle.importKey("raw", new Uint8Array(key), algorithm, false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign("HMAC", imported, utf8.encode(text)));
  },
};
