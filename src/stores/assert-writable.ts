import { ZarrflowError } from "../util/errors.ts";
import { isWritable, type Store, type WritableStore } from "./store.ts";

/** @throws `unsupported-operation` for a store that cannot be written. */
export function assertWritable(store: Store): WritableStore {
  if (isWritable(store)) return store;
  throw new ZarrflowError("unsupported-operation", "this store cannot be written", {
    store: store.description,
  });
}
