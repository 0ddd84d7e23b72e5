import type { Store } from "./store.ts";

/** Stores, and prototypes of store classes, that throw only `ZarrflowError`. */
const native = new WeakSet<object>();

/** Registers a store, or the prototype of a store class, whose failures are all of class `ZarrflowError`. */
export function markNativeStore(store: object): void {
  native.add(store);
}

/** True for a registered store. False for a store of a subclass, whose own methods may throw anything. */
export function isNativeStore(store: object): boolean {
  return native.has(store) || native.has(Object.getPrototypeOf(store) ?? store);
}

/**
 * Returns the prototype of the registered class that a store's class is or extends; undefined for any other store.
 */
export function nativePrototype(store: object): Store | undefined {
  let prototype: object | null = Object.getPrototypeOf(store);
  while (prototype !== null && !native.has(prototype)) prototype = Object.getPrototypeOf(prototype);
  return (prototype as Store | null) ?? undefined;
}
