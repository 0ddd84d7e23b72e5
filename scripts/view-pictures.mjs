// Takes the pictures of `zarrflow view` and of examples/browser in docs/pictures/, in Chromium: node scripts/view-pictures.mjs
// Its data are synthetic: sea temperatures, missing on land, and cells under a microscope.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import sirv from "sirv";
import { copy, createGroup } from "zarrflow";

const command = fileURLToPath(new URL("cli/main.js", import.meta.resolve("zarrflow")));
const pictures = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
/** The address that the picture shows, whichever port serves the page. */
const SITE = "https://zarr.example";
const folder = await mkdtemp(join(tmpdir(), "zarrflow-pictures-"));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  await mkdir(pictures, { recursive: true });
  await makeSea(join(folder, "sea.zarr"));
  await makeCells(join(folder, "cells.zarr"));
  const click = (page) => page.locator(".surface").click({ position: { x: 330, y: 150 } });
  await picture("sea.zarr", "view.png", { width: 1280, height: 940, act: click });
  await picture("cells.zarr", "view-image.png", { width: 1280, height: 760, colorScheme: "dark" });
  await picture("sea.zarr", "view-narrow.png", { width: 390, height: 844 });
  const plan = async (page) => {
    await page.getByLabel("time: chunk length").fill("365");
    await page.getByText("Show the plan").click();
    await page.getByText(/of memory\./).waitFor();
  };
  await pictureInBrowser("browser.png", { width: 1280, height: 940, act: plan });
  await pictureInBrowser("browser-narrow.png", { width: 390, height: 844, colorScheme: "dark" });
} finally {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
}

/** The page of examples/browser, with a zip of sea temperatures open. */
async function pictureInBrowser(file, options) {
  const site = join(folder, "site");
  const build = fileURLToPath(new URL("../examples/browser/build.mjs", import.meta.url));
  await promisify(execFile)(process.execPath, [build, site]);
  await copy(join(folder, "sea.zarr"), join(site, "sea.zarr.zip"), { ifExists: "replace" });
  const server = createServer(sirv(site)).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const here = `http://127.0.0.1:${server.address().port}`;
    const route = async (page) =>
      page.route(`${SITE}/**`, async (route) => {
        const url = route.request().url().replace(SITE, here);
        await route.fulfill({ response: await route.fetch({ url }) });
      });
    await shoot(`${SITE}/index.html?url=${SITE}/sea.zarr.zip`, file, { ...options, route });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function shoot(address, file, { route, act, colorScheme = "light", ...viewport }) {
  const page = await browser.newPage({ viewport, colorScheme });
  await route?.(page);
  await page.goto(address);
  await page.locator("[aria-busy=false]").waitFor();
  await act?.(page);
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(pictures, file) });
  await page.close();
}

async function picture(name, file, options) {
  const child = spawn(process.execPath, [command, "view", name, "--quiet"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const address = await new Promise((resolve) =>
      child.stdout.once("data", (line) => resolve(`${line}`.trim())),
    );
    await shoot(address, file, options);
  } finally {
    child.kill("SIGINT");
  }
}

/** Packed sea temperatures; the latest are not stored yet. */
async function makeSea(url) {
  const [times, rows, columns] = [365, 90, 180];
  const root = await createGroup(url, {
    zarrFormat: "v2",
    attributes: { title: "Made-up sea surface temperature" },
  });
  const array = async (name, options, items, attributes) => {
    const writer = await root.create(name, { ...options, attributes });
    if (items) await writer.write([], items);
    return writer;
  };
  const axis = (name, items, dataType, attributes) =>
    array(
      name,
      { dataType, shape: [items.length], chunks: [items.length], dimensionNames: [name] },
      items,
      attributes,
    );
  await (
    await axis(
      "time",
      Int32Array.from({ length: times }, (_, i) => i),
      "int32",
      { units: "days since 2024-01-01" },
    )
  ).close();
  await (
    await axis(
      "lat",
      Float32Array.from({ length: rows }, (_, i) => -89 + 2 * i),
      "float32",
      { units: "degrees_north" },
    )
  ).close();
  await (
    await axis(
      "lon",
      Float32Array.from({ length: columns }, (_, i) => -179 + 2 * i),
      "float32",
      { units: "degrees_east" },
    )
  ).close();
  const sst = await array(
    "sst",
    {
      dataType: "int16",
      shape: [times, rows, columns],
      chunks: [30, 45, 60],
      fillValue: -32768,
      dimensionNames: ["time", "lat", "lon"],
      codec: "zstd:3",
    },
    undefined,
    { scale_factor: 0.01, add_offset: 273.15, units: "K", long_name: "sea surface temperature" },
  );
  const isLand = (lat, lon) => {
    const spots = [
      [50, 80, 42, 38],
      [5, 20, 30, 22],
      [48, -100, 26, 30],
      [-15, -60, 28, 16],
      [-25, 135, 13, 17],
      [-90, 0, 18, 400],
    ];
    const rough = 0.14 * Math.sin(lat / 3 + lon / 7) + 0.12 * Math.sin(lon / 4.3 - lat / 5);
    return spots.some(([y, x, h, w]) => Math.hypot((lat - y) / h, (lon - x) / w) + rough < 1);
  };
  const days = 240;
  const items = new Int16Array(days * rows * columns);
  for (let t = 0, at = 0; t < days; t++) {
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++, at++) {
        const [lat, lon] = [-89 + 2 * r, -179 + 2 * c];
        const season = 5 * Math.sin(((t - 120) / 365) * 2 * Math.PI) * Math.sin((lat * Math.PI) / 180);
        const eddies = 1.6 * Math.sin(lon / 9 + t / 12) * Math.sin(lat / 6 + Math.sin(lon / 15));
        const celsius = 29 * Math.cos((lat * Math.PI) / 180) ** 1.6 - 1.5 + season + eddies;
        items[at] = isLand(lat, lon) ? -32768 : Math.round(Math.max(-1.8, celsius) * 100);
      }
    }
  }
  await sst.write([[0, days]], items);
  await sst.close();
  await root.close();
}

/** A stack of planes with three channels, in two levels. */
async function makeCells(url) {
  const channels = [
    ["nuclei", "4f7bff", 9000],
    ["tubulin", "3ddc6a", 6000],
    ["actin", "ff5a4f", 5200],
  ];
  const size = 256;
  const root = await createGroup(url, {
    zarrFormat: "v3",
    attributes: {
      ome: {
        version: "0.5",
        multiscales: [
          {
            name: "cells",
            axes: [
              { name: "c", type: "channel" },
              ...["z", "y", "x"].map((name) => ({ name, type: "space", unit: "micrometer" })),
            ],
            datasets: [1, 2].map((factor, i) => ({
              path: `${i}`,
              coordinateTransformations: [{ type: "scale", scale: [1, 0.5, 0.4 * factor, 0.4 * factor] }],
            })),
          },
        ],
        omero: {
          channels: channels.map(([label, color, end]) => ({
            label,
            color,
            active: true,
            window: { start: 400, end, min: 0, max: 65535 },
          })),
          rdefs: { defaultZ: 2 },
        },
      },
    },
  });
  let seed = 7;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    return (seed >>> 0) / 2 ** 32;
  };
  const cells = Array.from({ length: 15 }, () => ({
    x: random(),
    y: random(),
    r: 0.045 + 0.035 * random(),
    turn: random() * 6,
    z: 1 + 3 * random(),
  }));
  for (const [level, factor] of [1, 2].entries()) {
    const side = size / factor;
    const writer = await root.create(`${level}`, {
      dataType: "uint16",
      shape: [3, 5, side, side],
      chunks: [1, 1, 64, 64],
      dimensionNames: ["c", "z", "y", "x"],
      codec: "zstd:3",
    });
    const items = new Uint16Array(3 * 5 * side * side);
    for (let z = 0; z < 5; z++) {
      for (let y = 0; y < side; y++) {
        for (let x = 0; x < side; x++) {
          const light = [0, 0, 0];
          for (const cell of cells) {
            const [dx, dy] = [x / side - cell.x, y / side - cell.y];
            const d = Math.hypot(dx, dy) / cell.r;
            if (d > 2.4) continue;
            const angle = Math.atan2(dy, dx) + cell.turn;
            const sharp = Math.exp(-(((z - cell.z) / 1.5) ** 2));
            light[0] +=
              8500 *
              sharp *
              Math.exp(-((d / 0.62) ** 6)) *
              (0.8 + 0.2 * Math.sin((9 * dx) / cell.r) * Math.sin((8 * dy) / cell.r));
            light[1] +=
              4200 * sharp * Math.exp(-(((d - 0.95) / 0.5) ** 2)) * (0.7 + 0.3 * Math.sin(9 * angle + 5 * d));
            light[2] += 4300 * sharp * Math.exp(-(((d - 1.55 - 0.2 * Math.sin(3 * angle)) / 0.16) ** 2));
          }
          for (let c = 0; c < 3; c++) items[((c * 5 + z) * side + y) * side + x] = 300 + light[c];
        }
      }
    }
    await writer.write([], items);
    await writer.close();
  }
  await root.close();
}
