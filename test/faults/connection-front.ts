import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What stands between a client and a server, on 127.0.0.1. */
export interface ConnectionFront {
  readonly endpoint: string;
  /** How many connections there were. */
  readonly connections: number;
  close(): void;
}

/** What becomes of a connection, the `number`th: bytes on their way may be changed, and both ends closed. */
export type Treatment = (ends: {
  readonly client: Socket;
  readonly server: Socket;
  readonly number: number;
}) => {
  readonly asked?: (bytes: Buffer) => Buffer;
  /** Passes on what the server answers. */
  readonly answered?: (bytes: Buffer) => void;
};

/** Serves on another port what a server does, as `treat` lets it come through. */
export async function serveFront(endpoint: string, treat: Treatment): Promise<ConnectionFront> {
  const { hostname, port } = new URL(endpoint);
  const sockets = new Set<Socket>();
  let connections = 0;
  const front = createServer((client) => {
    const server = connect(Number(port), hostname);
    const { asked = (bytes) => bytes, answered = (bytes) => client.write(bytes) } = treat({
      client,
      server,
      number: connections++,
    });
    client.on("data", (bytes) => server.write(asked(bytes))).on("close", () => server.destroy());
    server.on("data", answered).on("end", () => client.end());
    for (const socket of [client, server]) sockets.add(socket.on("error", () => {}));
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    close() {
      front.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
