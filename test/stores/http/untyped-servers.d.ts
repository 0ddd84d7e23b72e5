/** Of servers that come without types, what their tests use. */
declare module "serve-handler" {
  import type { IncomingMessage, ServerResponse } from "node:http";
  export default function handler(
    request: IncomingMessage,
    response: ServerResponse,
    config: {
      readonly public: string;
      readonly cleanUrls: boolean;
      readonly directoryListing: boolean;
      readonly etag: boolean;
    },
  ): Promise<void>;
}

declare module "http-server" {
  import type { Server } from "node:http";
  export function createServer(options: {
    readonly root: string;
    readonly cache: number;
    readonly showDir: "false";
    readonly autoIndex: "false";
  }): { readonly server: Server };
}
