// Measures the processor time that a request of 64 kB costs this process: reads by range and writes in S3, reads over HTTP,
// 32 at a time, on connections that are kept. Cold are the first 500 requests, warm 5,000 after 1,000; medians of 3
// processes for each. The server, which parses next to nothing, is a process of its own. ZARRFLOW_DIST names the folder of
// another build.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const BYTES = 64 * 1024;
const AT_ONCE = 32;
const ROUNDS = 3;
const KINDS = ["S3 GET, a range", "S3 PUT", "HTTP GET"];
const self = fileURLToPath(import.meta.url);
const dist = resolve(process.env.ZARRFLOW_DIST ?? `${dirname(self)}/../dist`);
const [role, kind, port] = process.argv.slice(2);

if (role === "serve") serve();
else if (role === "measure") await measure();
else await measureAll();

function serve() {
  const head = (status) => `HTTP/1.1 ${status}\r\nETag: "1"\r\nContent-Length:`;
  const range = `Content-Range: bytes 0-${BYTES - 1}/${2 * BYTES}`;
  const value = Buffer.alloc(BYTES, 7);
  const part = Buffer.concat([Buffer.from(`${head("206 Partial")} ${BYTES}\r\n${range}\r\n\r\n`), value]);
  const whole = Buffer.concat([Buffer.from(`${head("200 OK")} ${BYTES}\r\n\r\n`), value]);
  const done = `${head("200 OK")} 0\r\n\r\n`;
  const server = createServer((socket) => {
    let left = 0;
    socket.setNoDelay().on("error", () => {});
    socket.on("data", (data) => {
      if (left > 0) left -= data.length;
      else {
        const end = data.indexOf("\r\n\r\n") + 4;
        const text = data.toString("latin1", 0, end);
        if (!text.startsWith("PUT ")) socket.write(/\r\nrange:/i.test(text) ? part : whole);
        else left = BYTES - (data.length - end);
        if (!text.startsWith("PUT ")) return;
      }
      if (left === 0) socket.write(done);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
}

/** Prints the milliseconds of a request, cold and warm. */
async function measure() {
  const load = (name) => import(pathToFileURL(`${dist}/stores/${name}.js`));
  const endpoint = `http://127.0.0.1:${port}`;
  let request;
  if (kind === "HTTP GET") {
    const { HttpStore } = await load("http");
    const store = new HttpStore(endpoint);
    request = (i) => store.get(`c/${i}`);
  } else {
    const { S3Store } = await load("s3");
    const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
    const store = new S3Store({ bucket: "bench", endpoint, credentials });
    const bytes = new Uint8Array(BYTES);
    request =
      kind === "S3 PUT"
        ? (i) => store.set(`c/${i}`, bytes)
        : (i) => store.get(`c/${i}`, { range: { offset: 0, length: BYTES } });
  }
  let next = 0;
  const cost = async (count) => {
    const [end, began] = [next + count, process.cpuUsage()];
    const some = async () => {
      while (next < end) await request(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, some));
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000 / count;
  };
  const cold = await cost(500);
  await cost(500);
  console.log(JSON.stringify([cold, await cost(5000)]));
}

async function measureAll() {
  const server = spawn(process.execPath, [self, "serve"], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const [serverPort] = await once(server, "message");
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1].toFixed(2);
  console.log("| request | cold, ms | warm, ms |\n| --- | --- | --- |");
  for (const kind of KINDS) {
    const rounds = Array.from({ length: ROUNDS }, () => {
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        [self, "measure", kind, `${serverPort}`],
        { encoding: "utf8" },
      );
      if (status !== 0) throw new Error(stderr);
      return JSON.parse(stdout);
    });
    console.log(`| ${kind} | ${[0, 1].map((i) => median(rounds.map((round) => round[i]))).join(" | ")} |`);
  }
  server.kill();
}
