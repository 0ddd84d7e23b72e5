import { builtin } from "../../../util/platform.node.ts";

/** Connection of a worker to its pool. */
export interface PoolPort {
  post(message: unknown, buffers: readonly ArrayBuffer[]): void;
  listen(take: (message: unknown) => void): void;
  close(): void;
}

/** Returns the port of a Node worker thread or of a web worker. */
export function poolPort(): PoolPort {
  const port = builtin("node:worker_threads")?.parentPort;
  if (port) {
    return {
      post: (message, buffers) => port.postMessage(message, buffers),
      listen: (take) => void port.on("message", take),
      close: () => port.close(),
    };
  }
  return {
    post: (message, buffers) => globalThis.postMessage(message, { transfer: [...buffers] }),
    listen: (take) => globalThis.addEventListener("message", ({ data }) => take(data)),
    close: () => globalThis.close(),
  };
}
