import { createRequire } from "node:module";

/** Modules of Node that are used where they are there. */
export interface Builtins {
  readonly "node:crypto": typeof import("node:crypto");
  readonly "node:dns": typeof import("node:dns");
  readonly "node:fs": typeof import("node:fs");
  readonly "node:http": typeof import("node:http");
  readonly "node:https": typeof import("node:https");
  readonly "node:os": typeof import("node:os");
  readonly "node:path": typeof import("node:path");
  readonly "node:stream": typeof import("node:stream");
  readonly "node:worker_threads": typeof import("node:worker_threads");
  readonly "node:zlib": typeof import("node:zlib");
}

/** Whether modules of Node are here, as in Deno and Bun; `platform.browser.ts` stands for this module elsewhere. */
export const isNode = true as boolean;

export const environment = (): Readonly<Record<string, string | undefined>> => process.env;

export const isOnWindows = (): boolean => process.platform === "win32";

export const currentFolder = (): string => process.cwd();

/** The URL that a path means in a page, or in a worker of one; undefined where there is none. */
export const pageUrl = (_path: string): string | undefined => undefined;

/** A module of Node, loaded when it is asked for: `node:zlib` takes a millisecond. */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  return (process.getBuiltinModule?.(name) ?? createRequire(import.meta.url)(name)) as Builtins[Name];
}

/** The kernels, where a runtime compiles no WebAssembly at run time but takes modules of it, as workerd does. */
export const compiledKernels: Readonly<Record<"reading" | "codecs", WebAssembly.Module>> | undefined =
  undefined;
