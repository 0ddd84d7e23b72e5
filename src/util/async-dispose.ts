/// <reference lib="esnext.disposable" preserve="true" />

/** The method name that `await using` calls, including in runtimes that lack `Symbol.asyncDispose`. */
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");
