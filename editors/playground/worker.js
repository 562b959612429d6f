// Runs one command line of relax-spec on files in memory, and ends with what it left there.

import { Directory, Fd, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

/** An output of the command: every piece goes to the page at once. */
class Stream extends Fd {
  constructor(name) {
    super();
    this.name = name;
  }

  fd_write(data) {
    postMessage({ stream: this.name, bytes: data.slice() });
    return { ret: 0, nwritten: data.byteLength };
  }
}

/** The directories of files named by their paths. */
function tree(files) {
  const root = new Map();
  for (const [path, bytes] of Object.entries(files)) {
    const names = path.split("/");
    const last = names.pop();
    let here = root;
    for (const name of names) {
      if (!here.has(name)) here.set(name, new Directory(new Map()));
      here = here.get(name).contents;
    }
    if (last) here.set(last, new File(bytes));
  }
  return root;
}

/** The files of directories, by their paths. */
function files(contents, above = "") {
  return [...contents].flatMap(([name, entry]) =>
    entry instanceof Directory ? files(entry.contents, `${above}${name}/`) : [[above + name, entry.data]],
  );
}

/** `ENOTSUP` of WASI. */
const NOT_SUPPORTED = 58;

/**
 * What Debian's libc for WASI lacks, as undefined.txt lists it: threads, permissions and `realpath`, none of which can be
 * had here.
 */
function lacking(exports) {
  const fail = (result) => () => {
    new DataView(exports().memory.buffer).setInt32(exports().errno.value, NOT_SUPPORTED, true);
    return result;
  };
  return {
    __errno_location: () => exports().errno.value,
    fchmod: fail(-1),
    pthread_attr_destroy: () => 0,
    pthread_attr_init: () => 0,
    pthread_attr_setstacksize: () => 0,
    pthread_create: () => NOT_SUPPORTED,
    pthread_detach: () => 0,
    pthread_join: () => NOT_SUPPORTED,
    realpath: fail(0),
  };
}

onmessage = async ({ data }) => {
  const root = new PreopenDirectory("/", tree(data.files));
  const streams = [new OpenFile(new File([])), new Stream("out"), new Stream("err"), root];
  const wasi = new WASI(data.args, data.env, streams, { debug: false });
  try {
    let instance;
    const env = lacking(() => instance.exports);
    instance = await WebAssembly.instantiate(data.module, { wasi_snapshot_preview1: wasi.wasiImport, env });
    const exit = wasi.start(instance);
    postMessage({ exit, files: Object.fromEntries(files(root.dir.contents)) });
  } catch (error) {
    // The browser gives the command less stack than a system does.
    postMessage({ ended: error instanceof RangeError ? "it is nested too deeply for a browser" : String(error) });
  }
};
