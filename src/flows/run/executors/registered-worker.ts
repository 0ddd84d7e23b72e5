import { ZarrflowError } from "../../../util/errors.ts";

/** What flows use of a web worker. */
export interface PageWorker {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "error", listener: (event: { readonly message?: string }) => void): void;
  terminate(): void;
}

/** What the script of a worker sends when it has been loaded. */
export const READY = "zarrflow: ready";

let registered: (() => PageWorker) | undefined;

/**
 * Says how a page starts a worker whose script calls `serveThread` of `zarrflow/worker`. From then on the page's flows
 * run their tasks in several threads, which share what there is to do, and the memory budget, where the page is isolated
 * (`crossOriginIsolated`), and have a fixed part of it elsewhere. Node needs none.
 *
 * @throws `invalid-option` for what is not a function.
 */
export function registerWorker(start: () => PageWorker): void {
  if (typeof start !== "function") {
    const reason = "what starts a worker must be a function";
    throw new ZarrflowError("invalid-option", reason, { found: typeof start });
  }
  registered = start;
}

/** What starts a worker; undefined where the page has not said it. */
export function registeredWorker(): (() => PageWorker) | undefined {
  return registered;
}
