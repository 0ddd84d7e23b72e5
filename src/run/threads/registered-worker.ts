import { ZarrflowError } from "../../util/errors.ts";

/** The members of a web worker that flows use. */
export interface PageWorker {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "error", listener: (event: { readonly message?: string }) => void): void;
  terminate(): void;
}

/** Message that a worker's script sends when it has loaded. */
export const READY = "zarrflow: ready";

let registered: (() => PageWorker) | undefined;

/**
 * Registers a function that starts a web worker of a page. The worker's script must call `serveThread` of
 * `zarrflow/worker`. From then on, the flows of the page run their tasks in several threads. In an isolated page
 * (`crossOriginIsolated`) the threads share their tasks and the memory budget; in others each thread has a fixed part
 * of both. Not needed in Node.
 *
 * @throws `invalid-option` unless `start` is a function.
 */
export function registerWorker(start: () => PageWorker): void {
  if (typeof start !== "function") {
    const reason = "the worker factory must be a function";
    throw new ZarrflowError("invalid-option", reason, { found: typeof start });
  }
  registered = start;
}

/** The registered function; undefined if the page has registered none. */
export function registeredWorker(): (() => PageWorker) | undefined {
  return registered;
}
