import { ZarrGroup } from "../../hierarchy/node.ts";
import { formatNamed } from "../../meta/formats.ts";
import { accessedBy, type StoreAccess } from "../../stores/access.ts";
import { isListable, type ListableStore, type Store, type StoreOptions } from "../../stores/store.ts";
import { openStoreIfThere, parseStoreUrl } from "../../stores/url.ts";
import { joinKey } from "../../util/node-path.ts";

/** Opens a place with keys, but without a node, as a group without documents; undefined if it has no keys. */
export async function openKeyPrefix(
  url: string,
  { wrap, signal, ...access }: StoreAccess & StoreOptions & { readonly wrap: (store: Store) => Store },
): Promise<ZarrGroup | undefined> {
  const { spec: stated, path, zarrFormat } = parseStoreUrl(url);
  if (zarrFormat !== undefined) return undefined;
  const spec = accessedBy(stated, access);
  const opened = await openStoreIfThere(spec, { signal });
  if (opened === undefined) return undefined;
  const store = wrap(opened);
  if (isListable(store)) {
    if (await holdsAnything(store, joinKey(path, ""), signal)) {
      const layout = formatNamed("v3").layout(path);
      return new ZarrGroup({ store, spec, layout, metadata: { kind: "group", attributes: {} } });
    }
  }
  await store.close?.();
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
