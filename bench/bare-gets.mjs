// Measures the least time in which a program on `node:http` can read the values of a prefix: lists it, signs and reads each
// value once, 64 at a time, and does nothing else. Prints processor and wall seconds since the process started.
//   AWS_ENDPOINT_URL=... AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... node bench/bare-gets.mjs BUCKET PREFIX
import { createHash, createHmac } from "node:crypto";
import { Agent, get } from "node:http";

const [bucket, prefix] = process.argv.slice(2);
const { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = process.env;
const REGION = process.env.AWS_REGION ?? "us-east-1";
const AT_ONCE = 64;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const hmac = (key, text) => createHmac("sha256", key).update(text).digest();
const EMPTY = createHash("sha256").digest("hex");
const day = new Date().toISOString().slice(0, 10).replaceAll("-", "");
const key = ["aws4_request", "s3", REGION, day].reduceRight((key, part) => hmac(key, part), `AWS4${secret}`);

function read(path, query = "") {
  const { host, hostname, port } = new URL(endpoint);
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const lines = [
    ...["GET", path, query, `host:${host}`, `x-amz-content-sha256:${EMPTY}`, `x-amz-date:${date}`],
    ...["", "host;x-amz-content-sha256;x-amz-date", EMPTY],
  ];
  const scope = `${day}/${REGION}/s3/aws4_request`;
  const digest = createHash("sha256").update(lines.join("\n")).digest("hex");
  const signature = hmac(key, ["AWS4-HMAC-SHA256", date, scope, digest].join("\n")).toString("hex");
  const headers = {
    "x-amz-content-sha256": EMPTY,
    "x-amz-date": date,
    authorization: `AWS4-HMAC-SHA256 Credential=${id}/${scope},SignedHeaders=${lines[7]},Signature=${signature}`,
  };
  return new Promise((resolve, reject) => {
    const request = get(
      { agent, hostname, port, path: query ? `${path}?${query}` : path, headers },
      (answer) => {
        const pieces = [];
        answer.on("data", (piece) => pieces.push(piece));
        answer.on("error", reject);
        answer.on("end", () => {
          if (answer.statusCode !== 200)
            reject(new Error(`${path}: ${answer.statusCode} ${Buffer.concat(pieces)}`));
          else resolve(Buffer.concat(pieces));
        });
      },
    );
    request.on("error", reject);
  });
}

const listing = await read(`/${bucket}`, `list-type=2&prefix=${encodeURIComponent(prefix)}`);
const keys = [...`${listing}`.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name]) => name);
let next = 0;
let bytes = 0;
const readSome = async () => {
  while (next < keys.length) {
    const value = await read(`/${bucket}/${keys[next++]}`);
    bytes += value.length;
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, readSome));
agent.destroy();
const { user, system } = process.cpuUsage();
console.log(
  `${keys.length} values, ${bytes} bytes: ${((user + system) / 1e6).toFixed(2)} s of processor time, ${process.uptime().toFixed(2)} s`,
);
