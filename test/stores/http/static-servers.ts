import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import httpServer from "http-server";
import serveHandler from "serve-handler";
import sirv from "sirv";

/** Servers of files that people run, each with a folder behind it. */
export const staticServers: Readonly<Record<string, (folder: string) => Server>> = {
  "serve-handler": (folder) => {
    const config = { public: folder, cleanUrls: false, directoryListing: false, etag: true };
    return createServer((request, response) => void serveHandler(request, response, config));
  },
  // Answers a suffix range with the first bytes.
  sirv: (folder) => createServer(sirv(folder, { dev: true, dotfiles: true })),
  // Refuses suffix ranges.
  "http-server": (folder) =>
    httpServer.createServer({ root: folder, cache: -1, showDir: "false", autoIndex: "false" }).server,
};

/** A server that listens on 127.0.0.1, and the ranges that it was asked for; `method` where there was none. */
export interface ListeningServer {
  readonly url: string;
  readonly asked: string[];
  close(): Promise<void>;
}

export async function listen(server: Server): Promise<ListeningServer> {
  const asked: string[] = [];
  server.prependListener("request", ({ method = "", headers }) => asked.push(headers.range ?? method));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
