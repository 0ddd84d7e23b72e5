import { ZarrflowError } from "../../util/errors.ts";
import { currentFolder, isOnWindows } from "../../util/platform.node.ts";

/** A Windows drive or server at the start of a path. */
const WINDOWS_ROOT = /^(?:[a-z]:[\\/]|\\\\)/i;

/** Replaces `\` by `/` in a Windows path. */
export function slashed(path: string): string {
  return isOnWindows() || WINDOWS_ROOT.test(path) ? path.replaceAll("\\", "/") : path;
}

/**
 * Makes a path absolute, so that other processes can use it, without `.` and `..` segments and slashes at the end.
 */
export function absolutePath(path: string): string {
  const [, drive, rest = path] = /^([a-z]:)(\/.*)$/is.exec(path) ?? [];
  if (drive !== undefined) return `${drive}${resolved(rest)}`;
  if (path.startsWith("//") && isOnWindows()) return `/${resolved(path)}`;
  if (path.startsWith("/")) return resolved(path);
  const folder = slashed(currentFolder());
  return absolutePath(folder.startsWith("/") || folder === "" ? `/${folder}/${path}` : `${folder}/${path}`);
}

/** Removes `.` and `..` segments and slashes at the end. */
function resolved(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}

/** Returns the path of a `file:` URL. @throws `invalid-option` */
export function pathOfFileUrl(text: string): string {
  try {
    const { host, pathname, search, hash } = new URL(text);
    const isPlain = (host === "" || host === "localhost") && search === "" && hash === "";
    if (isPlain && !/%2f/i.test(pathname)) return decodeURIComponent(pathname).replace(/^\/(?=[a-z]:)/i, "");
  } catch {
    // not a URL, or percent signs that do not encode a character
  }
  throw new ZarrflowError("invalid-option", "this is not a URL of a local file", {
    value: text,
    hint: "URLs of local files look like file:///path, with `?`, `#` and `%` percent-encoded.",
  });
}
