import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

/** What befalls a request that would do well when it is made again: most never get to the server, one loses its answer. */
export const FAULTS = ["503", "reset", "cut body", "2 s stall"] as const;
export type Fault = (typeof FAULTS)[number] | "403" | "no answer";

/** A request as it came to a proxy. */
export interface ProxiedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly range: string | undefined;
  readonly fault: Fault | undefined;
}

/** What is to befall a request, if anything. */
export type FaultChoice = (request: Omit<ProxiedRequest, "fault">) => Fault | undefined;

export interface FaultProxy {
  readonly endpoint: string;
  readonly requests: readonly ProxiedRequest[];
  close(): Promise<void>;
}

/**
 * One request of `every` fails, in each way in turn. One that has failed twice is spared, so that whoever makes it again
 * a few times gets through.
 */
export function oneOf(every: number): FaultChoice {
  const failures = new Map<string, number>();
  let requests = 0;
  let failed = 0;
  return ({ method, url, range }) => {
    requests++;
    const call = [method, url, range].join(" ");
    const before = failures.get(call) ?? 0;
    if (failed >= Math.floor(requests / every) || before >= 2) return undefined;
    failures.set(call, before + 1);
    return FAULTS[failed++ % FAULTS.length];
  };
}

/** A server on 127.0.0.1 in front of another. */
export async function proxyTo(upstream: string, faultOf: FaultChoice = () => undefined): Promise<FaultProxy> {
  const requests: ProxiedRequest[] = [];
  const server = createServer((incoming, response) => {
    pass(incoming, response).catch(() => incoming.socket.destroy());
  });

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const { method = "", url = "", headers } = incoming;
    const seen = { method, url, range: headers.range };
    const fault = faultOf(seen);
    requests.push({ ...seen, fault });
    if (fault === "403") response.writeHead(403).end(method !== "HEAD" && errorBody("AccessDenied"));
    else if (fault === "503") response.writeHead(503).end(method !== "HEAD" && errorBody("SlowDown"));
    else if (fault === "reset") incoming.socket.resetAndDestroy();
    else if (fault === "no answer") return;
    else if (fault === "2 s stall") {
      await pause(2000);
      incoming.socket.resetAndDestroy();
    } else {
      const answer = await ask(upstream, incoming, body);
      if (fault === "cut body") cut(response, answer);
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Sends a request on as it came, since its signature covers the name of the host. */
async function ask(
  upstream: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
): Promise<Answer> {
  const { hostname, port } = new URL(upstream);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ hostname, port, method, path: url, headers, agent: false }, resolve)
      .on("error", reject)
      .end(body);
  });
  // What holds for the way from the server to here only is left out.
  const { connection, "keep-alive": _, "transfer-encoding": __, ...kept } = answer.headers;
  return { status: answer.statusCode ?? 502, headers: kept, body: await buffer(answer) };
}

/** Half of the body, then nothing; where there is no body, nothing at all. */
function cut(response: ServerResponse, { status, headers, body }: Answer): void {
  if (body.length === 0) {
    response.socket?.destroy();
    return;
  }
  response.writeHead(status, headers);
  response.write(body.subarray(0, body.length >> 1), () => response.socket?.destroy());
}

function errorBody(code: string): string {
  return `<Error><Code>${code}</Code></Error>`;
}
