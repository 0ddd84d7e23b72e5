import { spawnSync } from "node:child_process";

/** Whether a disk in memory may be mounted, in a namespace of its own; CI insists on it. */
export const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

if (!canMount && process.env.REQUIRE_MOUNT === "1") {
  throw new Error("REQUIRE_MOUNT is set, but `unshare -rm mount -t tmpfs tmpfs /mnt` fails");
}
