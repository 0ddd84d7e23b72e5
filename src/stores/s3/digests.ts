type Awaitable<T> = T | Promise<T>;

/** What signatures are made of; text as UTF-8. */
export interface Digests {
  sha256(text: string): Awaitable<Uint8Array>;
  hmac(key: Uint8Array, text: string): Awaitable<Uint8Array>;
}

let ofRuntime: Digests | undefined;

/** Node's own at once, where the calls of browsers wait for another thread: 5 us a digest in place of 200. */
export async function digestsOfRuntime(): Promise<Digests> {
  ofRuntime ??= globalThis.process?.versions?.node
    ? (await import("./digests.node.ts")).nodeDigests
    : webDigests;
  return ofRuntime;
}

const utf8 = new TextEncoder();

export const webDigests: Digests = {
  sha256: async (text) => new Uint8Array(await crypto.subtle.digest("SHA-256", utf8.encode(text))),
  async hmac(key, text) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const imported = await crypto.subtle.importKey("raw", new Uint8Array(key), algorithm, false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign("HMAC", imported, utf8.encode(text)));
  },
};
