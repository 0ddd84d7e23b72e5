// A process of its own: fronts of S3 servers that fail, so that what they hold is not measured with the run's.
//
//   node fronts.mjs TOXIPROXY NAME=SERVER...
//
// Each server gets a front that answers every twentieth request with 503, and a toxiproxy before it. Of the connections,
// which last 20 requests, 5 % each are reset, cut, silent, slow, or closed late. It sends its parent the addresses, and
// its counts when it is asked for them.
import { createServer, request } from "node:http";
import { pipeline } from "node:stream/promises";

const [control, ...servers] = process.argv.slice(2);

/** A part of the connections for each of these. */
const TOXICITY = 0.05;
const TOXICS = [
  { name: "reset-answers", type: "reset_peer", attributes: { timeout: 30 } },
  { name: "reset-requests", type: "reset_peer", stream: "upstream", attributes: { timeout: 30 } },
  { name: "cut", type: "limit_data", attributes: { bytes: 50_000 } },
  { name: "silent", type: "timeout", attributes: { timeout: 1000 } },
  { name: "slow", type: "latency", attributes: { latency: 200, jitter: 100 } },
  { name: "closed-late", type: "slow_close", attributes: { delay: 500 } },
];
const REQUESTS_PER_FAILURE = 20;
const REQUESTS_PER_CONNECTION = 20;

const counts = { requests: 0, answers503: 0, connections: 0, cutOff: 0 };
const proxies = [];

const endpoints = {};
for (const server of servers) {
  const [name, upstream] = server.split("=");
  endpoints[name] = await openFront(name, new URL(upstream));
}
process.send({ endpoints });
process.on("message", () => process.send({ counts }));
process.on("disconnect", async () => {
  for (const name of proxies) await fetch(`${control}/proxies/${name}`, { method: "DELETE" });
  process.exit();
});

async function openFront(name, upstream) {
  const front = createServer((incoming, response) => {
    counts.requests++;
    pass(incoming, response, upstream).catch(() => {
      counts.cutOff++;
      incoming.socket.destroy();
    });
  });
  front.maxRequestsPerSocket = REQUESTS_PER_CONNECTION;
  front.on("connection", () => counts.connections++);
  await new Promise((resolve) => front.listen(0, "127.0.0.1", resolve));
  const proxy = `soak-${name}-${process.pid}`;
  const { listen } = await ask("/proxies", {
    name: proxy,
    listen: "127.0.0.1:0",
    upstream: `127.0.0.1:${front.address().port}`,
    enabled: true,
  });
  proxies.push(proxy);
  for (const toxic of TOXICS) await ask(`/proxies/${proxy}/toxics`, { ...toxic, toxicity: TOXICITY });
  return `http://${listen}`;
}

/** Sends a request on as it came, since its signature covers the name of the host. */
async function pass(incoming, response, { hostname, port }) {
  if (counts.requests % REQUESTS_PER_FAILURE === 0) {
    counts.answers503++;
    incoming.resume();
    response.writeHead(503).end(incoming.method === "HEAD" ? "" : "<Error><Code>SlowDown</Code></Error>");
    return;
  }
  const { method, url: path, headers } = incoming;
  const outgoing = request({ hostname, port, method, path, headers, agent: false });
  const answered = new Promise((resolve, reject) => outgoing.on("response", resolve).on("error", reject));
  const [answer] = await Promise.all([answered, pipeline(incoming, outgoing)]);
  const { connection, "keep-alive": _, "transfer-encoding": __, ...kept } = answer.headers;
  response.writeHead(answer.statusCode, kept);
  await pipeline(answer, response);
}

async function ask(path, body) {
  const response = await fetch(control + path, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`toxiproxy: ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
