import { afterAll, beforeAll } from "vitest";
import { copy } from "../../src/index.ts";
import { requireBuild } from "../built-package.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { makeHierarchy } from "./made-hierarchy.ts";
import { serveReachableBucket } from "./s3-environment.ts";

/** Places in a folder and in a bucket where processes meet, and a hierarchy that they copy there; for the tests of a file. */
export class RunPlaces {
  readonly folder = temporaryFolder();
  readonly placeOf = {
    directory: () => this.folder.next("h.zarr"),
    s3: () => `s3://${BUCKET}/place-${this.#count++}/h.zarr`,
  };
  #count = 0;
  #server: S3Server | undefined;
  #source = "";

  constructor() {
    beforeAll(async () => {
      requireBuild();
      this.#server = await serveReachableBucket();
      this.#source = this.folder.next("source.zarr");
      await copy(await makeHierarchy("v2", { consolidated: true, offset: 100 }), this.#source);
    });
    afterAll(() => this.#server?.close());
  }

  get server(): S3Server {
    if (this.#server === undefined) throw new Error("the server starts before the first test");
    return this.#server;
  }

  get source(): string {
    return this.#source;
  }
}
