import { formatNamed } from "../../meta/formats.ts";
import type { StoreAccess } from "../../stores/access.ts";
import { isListable, type ListableStore, type Store, type StoreOptions } from "../../stores/store.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { joinKey } from "../../util/node-path.ts";
import { type ZarrArray, ZarrGroup } from "../node.ts";
import { closeOpened, locate, type OpenSource } from "./open.ts";

/** Opens a place with keys, but without a node, as a group without documents; undefined if it has no keys. */
export async function openKeyPrefix(
  source: Exclude<OpenSource, URL | ZarrArray | ZarrGroup>,
  { wrap, signal, ...access }: StoreAccess & StoreOptions & { readonly wrap: (store: Store) => Store },
): Promise<ZarrGroup | undefined> {
  const place = await locate(source, access).catch((error: unknown) => {
    if (isZarrflowError(error, "not-found")) return undefined;
    throw error;
  });
  if (place === undefined) return undefined;
  const { spec, path, zarrFormat } = place;
  const store = wrap(place.store);
  if (zarrFormat === undefined && isListable(store)) {
    if (await holdsAnything(store, joinKey(path, ""), signal)) {
      const layout = formatNamed("v3").layout(path);
      return new ZarrGroup({ store, spec, layout, metadata: { kind: "group", attributes: {} } });
    }
  }
  await closeOpened(source, store);
  return undefined;
}

/** True if anything is below a prefix, even if it cannot be read. */
async function holdsAnything(
  store: ListableStore,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let isSeen = false;
  const onUnreadable = () => {
    isSeen = true;
  };
  for await (const _ of store.list(prefix, { signal, onUnreadable })) return true;
  return isSeen;
}
