import type { ServerResponse } from "node:http";
import type { S3Fault } from "../stores/s3-server.ts";

/** Milliseconds for which a server stalls. */
const STALL = 2000;

type Failure = (response: ServerResponse) => boolean | Promise<boolean>;

/** How requests fail: each in the way of the next of these. */
const FAILURES: Readonly<Record<string, Failure>> = {
  "503": (response) => {
    response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
    return true;
  },
  reset: (response) => {
    response.socket?.resetAndDestroy();
    return true;
  },
  "cut body": (response) => {
    // what is answered with a body loses its last byte, and all else its answer
    response.end = (body?: unknown) => {
      if (!(body instanceof Uint8Array) || body.length < 2) return response.destroy();
      response.write(body.subarray(0, -1));
      setTimeout(() => response.destroy(), 5);
      return response;
    };
    return false;
  },
  stall: async () => {
    await new Promise((resolve) => setTimeout(resolve, STALL));
    return false;
  },
};

/** A fault of a tenth of all requests, and how often each was met. */
export function tenthFails(): { readonly fault: S3Fault; readonly met: ReadonlyMap<string, number> } {
  const kinds = Object.entries(FAILURES);
  const met = new Map<string, number>();
  let requests = 0;
  const fault: S3Fault = (response) => {
    requests++;
    if (requests % 10 !== 4) return false;
    const [kind, fail] = kinds[Math.floor(requests / 10) % kinds.length] ?? ["", () => false];
    met.set(kind, (met.get(kind) ?? 0) + 1);
    return fail(response);
  };
  return { fault, met };
}
