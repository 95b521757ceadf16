/** The data files of the release: in the page itself, from beside it, or picked by the reader. */

/** Files that do not belong to this release, or that cannot be had. */
export class Missing extends Error {}

/** What the page has been given: manifest, facts, and a list of data files. */
export function given() {
  return JSON.parse(document.getElementById("release").textContent);
}

/** The files that are in the page, by their paths; nothing where they are not. */
export function inlined(data) {
  const blocks = data.map((_, i) => document.getElementById(`data-${i}`));
  if (blocks.some((block) => block === null)) return null;
  return new Map(data.map((file, i) => [file.path, decoded(blocks[i])]));
}

function decoded(block) {
  const text = atob(block.textContent);
  block.remove(); // the bytes are kept once
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Blob([bytes]);
}

/** Whether files beside the page can be fetched: from a host, and not from a folder. */
export function hosted() {
  return location.protocol === "http:" || location.protocol === "https:";
}

/** The files from beside the page. */
export async function fetched(data, progress) {
  const blobs = new Map();
  for (const file of data) {
    progress(blobs.size, data.length);
    const address = new URL(file.path.split("/").map(encodeURIComponent).join("/"), location.href.split(/[?#]/)[0]);
    const answer = await fetch(address).catch(() => null);
    if (!answer?.ok) throw new Missing(`${file.path} could not be fetched from beside this page`);
    blobs.set(file.path, await demanded(await answer.blob(), file));
  }
  return blobs;
}

/** Files that a reader picked, told apart by their names; those that are still missing are named. */
export async function picked(files, data, held) {
  const blobs = new Map(held);
  for (const file of files) {
    const wanted = data.filter(({ path, bytes }) => path.split("/").at(-1) === file.name && bytes === file.size);
    const fitting = wanted.find(({ path }) => !blobs.has(path)) ?? wanted[0];
    if (!fitting) throw new Missing(`${file.name} is not a data file of this release`);
    blobs.set(fitting.path, await demanded(file, fitting));
  }
  return blobs;
}

/** Refuses bytes that are not those of the release; where the browser can tell, by their hash. */
async function demanded(blob, file) {
  const wrong = () => new Missing(`${file.path} is not the file that belongs to this page: it was changed, or is of another release`);
  if (blob.size !== file.bytes) throw wrong();
  if (!globalThis.crypto?.subtle) return blob;
  const digest = await crypto.subtle.digest("SHA-256", await blob.arrayBuffer());
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex !== file.sha256) throw wrong();
  return blob;
}
