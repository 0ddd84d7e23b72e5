import { isListable, type ListableStore, type Store } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** The store, which must tell its keys. @throws `unsupported-operation` */
export function assertListable(store: Store): ListableStore {
  if (isListable(store)) return store;
  throw new ZarrflowError("unsupported-operation", "this store cannot list its keys", {
    store: store.description,
  });
}
