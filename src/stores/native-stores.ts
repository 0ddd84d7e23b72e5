import type { Store } from "./store.ts";

/** Stores, and prototypes of classes of stores, all of whose failures are errors of ours. */
const native = new WeakSet<object>();

/** Notes that a store, or each whose prototype this is, fails with errors of ours alone. */
export function markNativeStore(store: object): void {
  native.add(store);
}

/** Whether that was noted of a store; of one whose class extends one of ours it is not, as its methods are its own. */
export function isNativeStore(store: object): boolean {
  return native.has(store) || native.has(Object.getPrototypeOf(store) ?? store);
}

/** The prototype of the class of ours that a store's class is or extends; undefined of any other store. */
export function nativePrototype(store: object): Store | undefined {
  let prototype: object | null = Object.getPrototypeOf(store);
  while (prototype !== null && !native.has(prototype)) prototype = Object.getPrototypeOf(prototype);
  return (prototype as Store | null) ?? undefined;
}
