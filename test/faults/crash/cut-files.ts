import { CurrentCut } from "./cut.ts";

/** What cuts the file calls of this process just now. */
export const cutting = new CurrentCut();

/** Calls of `node:fs` and `node:fs/promises` that change something; `open` does where it may make or empty a file. */
const MUTATING =
  /^(?:write|writeFile|appendFile|rename|unlink|mkdir|rmdir|rm|chmod|copyFile|link|symlink|utimes|futimes|truncate)(?:Sync)?$/;
const OPENING = /^open(?:Sync)?$/;

type Call = (...args: unknown[]) => unknown;

/** A module of file calls whose mutating ones are counted, and cut. */
export function withCutFiles<M extends object>(module: M, isPromises: boolean): M {
  const cut: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(module)) {
    const isCall = typeof value === "function" && (MUTATING.test(name) || OPENING.test(name));
    cut[name] = isCall ? cutCall(name, value as Call, isPromises) : value;
  }
  if ("promises" in module) cut.promises = withCutFiles(module.promises as object, true);
  cut.default = cut;
  return cut as M;
}

function cutCall(name: string, call: Call, isPromises: boolean): Call {
  const around: Call = (...args) => {
    const mayChange = !OPENING.test(name) || opensToWrite(args[1]);
    if (cutting.now === undefined || !mayChange || isElsewhere(args[0])) return call(...args);
    if (!cutting.now.mutate()) return call(...args);
    const error = Object.assign(new Error(`EACCES: ${name} was cut`), { code: "EACCES", syscall: name });
    if (isPromises) return Promise.reject(error);
    const done = args.at(-1);
    if (typeof done !== "function") throw error;
    queueMicrotask(() => done(error));
    return undefined;
  };
  return Object.defineProperties(around, Object.getOwnPropertyDescriptors(call));
}

function opensToWrite(flags: unknown): boolean {
  return typeof flags === "number" ? (flags & 0o1103) !== 0 : typeof flags === "string" && flags !== "r";
}

/** Calls of the test runner itself. */
function isElsewhere(path: unknown): boolean {
  return typeof path === "string" && !path.includes("zarrflow-");
}
