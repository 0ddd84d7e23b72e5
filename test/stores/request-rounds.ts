import type { S3Seen, S3Server } from "./s3-server.ts";

/** Milliseconds without a new request after which all that wait are answered. */
const QUIET = 100;

/** Requests of one round trip, as `METHOD key`. */
export type Round = readonly string[];

/**
 * Makes a server answer in rounds: requests are held until none comes any more, and are answered together, so that the
 * number of rounds is the number of round trips that had to wait for one another.
 */
export function inRounds(server: S3Server): { readonly rounds: readonly Round[]; end(): void } {
  const rounds: string[][] = [];
  let waiting: (() => void)[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: string[] = [];
  const answerAll = () => {
    rounds.push(current);
    current = [];
    for (const go of waiting.splice(0)) go();
  };
  server.fault = async (_, request) => {
    current.push(nameOf(request));
    clearTimeout(timer);
    timer = setTimeout(answerAll, QUIET);
    await new Promise<void>((resolve) => waiting.push(resolve));
    return false;
  };
  return {
    rounds,
    end() {
      server.fault = undefined;
      clearTimeout(timer);
      waiting = [];
    },
  };
}

function nameOf({ method, key, query }: S3Seen): string {
  if (query.has("delete")) return "DELETE many";
  if (key === "") return `LIST ${query.get("prefix") ?? ""}${query.has("delimiter") ? " /" : ""}`;
  return `${method} ${key}`;
}
