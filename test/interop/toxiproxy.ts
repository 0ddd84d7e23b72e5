import { randomUUID } from "node:crypto";

/** The control port of a toxiproxy 2.5.0; CI insists that there is one. */
const control = process.env.ZARRFLOW_TOXIPROXY ?? "";

export const hasToxiproxy = control !== "";

if (!hasToxiproxy && process.env.REQUIRE_S3 === "1") {
  throw new Error("REQUIRE_S3 is set, but ZARRFLOW_TOXIPROXY names no toxiproxy");
}

/** What is wrong with connections; sizes in bytes, times in milliseconds, rates in kB a second. */
export interface Toxic {
  readonly type: "latency" | "bandwidth" | "slicer" | "reset_peer" | "limit_data" | "timeout";
  /** Which way it works: on answers by default. */
  readonly stream?: "upstream" | "downstream";
  /** The part of the connections that it falls on. @default 1 */
  readonly toxicity?: number;
  readonly attributes: Readonly<Record<string, number>>;
}

/** A port in front of a server, whose connections can be made bad. */
export interface ToxicProxy {
  readonly endpoint: string;
  /** Makes connections bad from now on, in place of what was wrong with them before; those that are open are closed. */
  poison(...toxics: readonly Toxic[]): Promise<void>;
  /** Whether connections are taken at all. */
  enable(enabled: boolean): Promise<void>;
  remove(): Promise<void>;
}

export async function openToxicProxy(upstream: string): Promise<ToxicProxy> {
  const name = randomUUID();
  const { listen } = (await ask("POST", "/proxies", {
    name,
    listen: "127.0.0.1:0",
    upstream: new URL(upstream).host,
    enabled: true,
  })) as { readonly listen: string };
  const path = `/proxies/${name}`;
  // Without an address a proxy that is enabled again would listen at another port.
  const enable = async (enabled: boolean) => void (await ask("POST", path, { enabled, listen }));
  return {
    endpoint: `http://${listen}`,
    enable,
    async poison(...toxics) {
      await enable(false);
      for (const { name: toxic } of (await ask("GET", `${path}/toxics`)) as { readonly name: string }[]) {
        await ask("DELETE", `${path}/toxics/${toxic}`);
      }
      for (const toxic of toxics) await ask("POST", `${path}/toxics`, toxic);
      await enable(true);
    },
    remove: async () => void (await ask("DELETE", path)),
  };
}

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(control + path, { method, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`toxiproxy: ${method} ${path}: ${response.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}
