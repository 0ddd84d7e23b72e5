/** Whether threads can share memory: in pages, only in those that are isolated (`crossOriginIsolated`). */
export function isMemoryShared(): boolean {
  return typeof SharedArrayBuffer === "function";
}
