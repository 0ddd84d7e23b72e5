import { accessedBy, type StoreAccess } from "../../../stores/access.ts";
import type { StoreSpec } from "../../../stores/store.ts";
import { parseStoreUrl } from "../../../stores/url.ts";

/** The store named by a path or URL for scratch objects, with access settings. @throws as `parseStoreUrl` */
export function parseScratch(place: string | undefined, access: StoreAccess = {}): StoreSpec | undefined {
  return place === undefined ? undefined : accessedBy(parseStoreUrl(place).spec, access);
}
