import { files } from "../files.node.ts";
import { ownFetch } from "../remote/private-access.ts";
import type { PlainFetch } from "./http-response.ts";
import { plainFetch } from "./plain-fetch.ts";

/** Symbols under which Node's `fetch` keeps its dispatcher, once `fetch` is used or a program sets one. */
const DISPATCHERS = ["undici.globalDispatcher.2", "undici.globalDispatcher.1"].map((name) =>
  Symbol.for(name),
);

const globalFetch = plainFetch((...request) => globalThis.fetch(...request));

/** Calls `fetch`, or a faster equivalent if the program has not configured how requests are made. */
export const fetchOfRuntime: PlainFetch = async (url, init) => {
  if (!files || globalThis.fetch !== ownFetch || hasOwnDispatcher()) return globalFetch(url, init);
  return (await files.fetch()).fetchByHttp(url, init);
};

/** True if `fetch` was given a proxy or another dispatcher. */
function hasOwnDispatcher(): boolean {
  // Node 26 sets version 2, and a wrapper of it as version 1 for older code.
  const inForce = DISPATCHERS.map((name) => Reflect.get(globalThis, name)).find((one) => one !== undefined);
  return inForce !== undefined && inForce.constructor.name !== "Agent";
}
