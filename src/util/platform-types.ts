/** A global constructor or function, typed as the program sees it: `typeof globalThis[Name]`. */
export type OfPlatform<Name extends string> =
  typeof globalThis extends Readonly<Record<Name, infer Found>> ? Found : undefined;

/** The platform's `fetch`. */
export type Fetch = OfPlatform<"fetch">;

/** Bytes with a buffer of their own; TypeScript before 5.7 does not distinguish them. */
export type OwnBytes = ReturnType<Uint8Array["slice"]>;
