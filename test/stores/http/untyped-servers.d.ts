/** Of servers that come without types, what their tests use. */
declare module "serve-handler" {
  import type { IncomingMessage, ServerResponse } from "node:http";
  export default function handler(
    request: IncomingMessage,
    response: ServerResponse,
    config: Readonly<Record<string, string | boolean>>,
  ): Promise<void>;
}

declare module "http-server" {
  import type { Server } from "node:http";

  type Options = Readonly<Record<string, string | number>>;
  export function createServer(options: Options): { readonly server: Server };
}
