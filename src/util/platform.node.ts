import { createRequire } from "node:module";

/** Node modules that are used if available. */
export interface Builtins {
  readonly "node:crypto": typeof import("node:crypto");
  readonly "node:dns": typeof import("node:dns");
  readonly "node:fs": typeof import("node:fs");
  readonly "node:net": typeof import("node:net");
  readonly "node:os": typeof import("node:os");
  readonly "node:path": typeof import("node:path");
  readonly "node:stream": typeof import("node:stream");
  readonly "node:tls": typeof import("node:tls");
  readonly "node:worker_threads": typeof import("node:worker_threads");
  readonly "node:zlib": typeof import("node:zlib");
}

/**
 * True where Node modules exist, which includes Deno and Bun; elsewhere `platform.browser.ts` replaces this module.
 */
export const isNode = true as boolean;

export const environment = (): Readonly<Record<string, string | undefined>> => process.env;

export const isOnWindows = (): boolean => process.platform === "win32";

export const currentFolder = (): string => process.cwd();

/** Resolves a path in a page, or in a page's worker; undefined outside browsers. */
export const pageUrl = (_path: string): string | undefined => undefined;

/** Loads a Node module on demand: `node:zlib` takes a millisecond. */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  return (process.getBuiltinModule?.(name) ?? createRequire(import.meta.url)(name)) as Builtins[Name];
}

/** Precompiled kernels, for runtimes such as workerd that import WebAssembly modules but cannot compile them. */
export const compiledKernels: Readonly<Record<"reading" | "codecs", WebAssembly.Module>> | undefined =
  undefined;
