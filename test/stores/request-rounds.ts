import { setImmediate } from "node:timers/promises";
import { vi } from "vitest";
import { Exchange } from "../../src/stores/http/exchange.ts";
import type { S3Seen, S3Server } from "./s3-server.ts";

/** Turns of the event loop without a new request after which all that wait are answered. */
const QUIET = 100;

/** Requests of one round trip, as `METHOD key`. */
export type Round = readonly string[];

/**
 * Makes a server answer in rounds: requests are held until all that were sent have come and none is sent any more, and are
 * answered together. So the round of a request is one more than the last whose answers it waited for, and the number of
 * rounds is that of round trips that waited for one another.
 */
export function inRounds(server: S3Server): { readonly rounds: readonly Round[]; end(): void } {
  const rounds: string[][] = [];
  let waiting: (() => void)[] = [];
  let current: string[] = [];
  let sent = 0;
  let come = 0;
  const answerAll = async (number: number) => {
    for (let turn = 0; turn < QUIET; turn++) {
      await setImmediate();
      if (come !== number) return;
      if (come < sent || isReadingFiles()) turn = 0;
    }
    rounds.push(current);
    current = [];
    for (const go of waiting.splice(0)) go();
  };
  // a request is counted when this process sends it, long before a busy machine brings it to the server
  const { send } = Exchange.prototype;
  const sending = vi.spyOn(Exchange.prototype, "send").mockImplementation(function (
    this: Exchange,
    ...request
  ) {
    sent++;
    send.apply(this, request);
  });
  server.fault = async (_, request) => {
    come++;
    current.push(nameOf(request));
    void answerAll(come);
    await new Promise<void>((resolve) => waiting.push(resolve));
    return false;
  };
  return {
    rounds,
    end() {
      sending.mockRestore();
      server.fault = undefined;
      come = 0;
      waiting = [];
    },
  };
}

/** Whether what is sent next may wait for a file. */
function isReadingFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"));
}

function nameOf({ method, key, query }: S3Seen): string {
  if (query.has("delete")) return "DELETE many";
  if (key === "") return `LIST ${query.get("prefix") ?? ""}${query.has("delimiter") ? " /" : ""}`;
  return `${method} ${key}`;
}
