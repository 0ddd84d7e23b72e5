/** What is known of processes; nothing outside Node. */
export async function processes() {
  return globalThis.process?.versions?.node === undefined ? undefined : import("./process-record.node.ts");
}
