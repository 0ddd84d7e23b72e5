/** A constructor or function of the platform, as the program's own types have it: `typeof globalThis[Name]`. */
export type OfPlatform<Name extends string> =
  typeof globalThis extends Readonly<Record<Name, infer Found>> ? Found : undefined;

/** The platform's `fetch`. */
export type Fetch = OfPlatform<"fetch">;

/** Bytes in a buffer of their own; TypeScript before 5.7 does not tell these from others. */
export type OwnBytes = ReturnType<Uint8Array["slice"]>;
