import type { StoreSpec } from "../../stores/store.ts";
import { storeTraits } from "../../stores/store-traits.ts";

const NEAR = 16;
/** A server takes a round trip to answer, in which it answers others; one that is asked too much says so. */
const FAR = 64;

/** Requests in flight for each store of a flow, where nobody says how many. */
export function usualIo(...stores: readonly StoreSpec[]): number {
  return stores.some((store) => storeTraits(store).isRemote) ? FAR : NEAR;
}
