/** True if threads can share memory; pages can only if they are isolated (`crossOriginIsolated`). */
export function isMemoryShared(): boolean {
  return typeof SharedArrayBuffer === "function";
}
