import type { Server } from "node:http";
import type { AddressInfo, Server as SocketServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { type StoreHarness, storeChecks } from "../../src/stores/testing.ts";

/** Tests each promise of a store. */
export function keepsPromises(harness: StoreHarness): void {
  for (const { name, run } of storeChecks(harness)) it(name, () => run());
}

/** Compares long values quickly, and shows of them what differs first. */
export function assertBytes(found: Uint8Array | undefined, expected: Uint8Array): void {
  if (found && Buffer.compare(found, expected) === 0) return;
  expect(found?.length).toBe(expected.length);
  const at = expected.findIndex((byte, i) => found?.[i] !== byte);
  expect({ at, found: found?.[at] }).toEqual({ at: -1, found: undefined });
}

/** Lets a server listen on 127.0.0.1 to the end of the test; its URL. */
export async function listening(server: Server | SocketServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Expects each call to be rejected with this very error, or with one that is like it. */
export async function allReject(calls: readonly Promise<unknown>[], fault: object): Promise<void> {
  const isFailing = (call: Promise<unknown>) => {
    const { rejects } = expect(call);
    return fault instanceof Error ? rejects.toBe(fault) : rejects.toMatchObject(fault);
  };
  await Promise.all(calls.map(isFailing));
}
