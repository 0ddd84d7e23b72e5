/// <reference lib="esnext.disposable" preserve="true" />

/** The name of the method that `await using` calls, also where the runtime does not know it yet. */
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");
