export type NodeZlib = typeof import("node:zlib");

/** Node's zlib module; undefined in browsers. */
export async function nodeZlib(): Promise<NodeZlib | undefined> {
  const { process } = globalThis;
  if (!process?.versions?.node) return undefined;
  if (process.getBuiltinModule) return process.getBuiltinModule("node:zlib");
  // Named by a variable, so that bundlers for browsers do not look for it.
  const name = "node:zlib";
  return import(name);
}
