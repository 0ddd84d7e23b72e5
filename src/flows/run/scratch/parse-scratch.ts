import { accessedBy, type StoreAccess } from "../../../stores/access.ts";
import type { StoreSpec } from "../../../stores/store.ts";
import { parseStoreUrl } from "../../../stores/url.ts";

/** The store that a path or URL for scratch objects names, reached as `access` says. @throws as `parseStoreUrl` */
export function parseScratch(place: string | undefined, access: StoreAccess = {}): StoreSpec | undefined {
  return place === undefined ? undefined : accessedBy(parseStoreUrl(place).spec, access);
}
