import { files } from "../files.node.ts";
import { ownFetch } from "../remote/private-access.ts";
import type { PlainFetch } from "./http-response.ts";
import { plainFetch } from "./plain-fetch.ts";

/** What makes the connections of Node's `fetch`, once it is used or a program says so. */
const DISPATCHERS = ["undici.globalDispatcher.2", "undici.globalDispatcher.1"].map((name) =>
  Symbol.for(name),
);

const globalFetch = plainFetch((...request) => globalThis.fetch(...request));

/** `fetch`, or what is as it and takes less, where the program has not said how requests are to be made. */
export const fetchOfRuntime: PlainFetch = async (url, init) => {
  if (!files || globalThis.fetch !== ownFetch || hasOwnDispatcher()) return globalFetch(url, init);
  return (await files.fetch()).fetchByHttp(url, init);
};

/** Whether `fetch` was given a proxy or the like. */
function hasOwnDispatcher(): boolean {
  // Node 26 has the second, and wraps it as the first for those who know no other.
  const inForce = DISPATCHERS.map((name) => Reflect.get(globalThis, name)).find((one) => one !== undefined);
  return inForce !== undefined && inForce.constructor.name !== "Agent";
}
