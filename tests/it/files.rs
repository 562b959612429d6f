//! The output files of commands. On a full disk the old file stays, and no temporary one is left. Anything but a
//! regular file is written, and not replaced.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const TOOL: &str = env!("CARGO_BIN_EXE_relax-spec");

/// A program with an output of more than a megabyte.
fn large(dir: &TempDir) -> String {
    let bindings: String = (0..20_000).map(|i| format!("    variable_{i} = R.add(x, x)\n")).collect();
    let path = dir.path().join("large.py");
    fs::write(&path, format!("@R.function\ndef main(x: R.Tensor((3,), \"float32\")):\n{bindings}    return x\n"))
        .unwrap();
    path.display().to_string()
}

/// All commands that write a file, with their inputs.
fn writers(large: &str) -> Vec<Vec<String>> {
    let line = |text: &str| text.split(' ').map(|word| word.replace("LARGE", large)).collect::<Vec<String>>();
    let mut lines: Vec<Vec<String>> = [
        "normalize LARGE --output OUT",
        "convert LARGE --to json --output OUT",
        "types LARGE --output OUT",
        "build LARGE --output OUT",
    ]
    .iter()
    .map(|text| line(text))
    .collect();
    for kind in ["html", "junit", "jsonl", "md"] {
        lines.push(line(&format!("conform types/* --all --report {kind}=OUT")));
    }
    lines
}

/// Runs the command with a limit on the size of files, because a test cannot fill a real disk. A larger file is refused
/// with an error, as on a full disk, if the preceding signal is ignored.
fn on_a_full_disk(kilobytes: u32, args: &[String], out: &Path) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$0\" \"$@\"");
    let args = args.iter().map(|arg| arg.replace("OUT", &out.display().to_string()));
    Command::new("bash").args(["-c", &script, TOOL]).args(args).output().unwrap()
}

#[test]
fn on_a_full_disk_the_old_file_stays_and_no_temporary_one_does() {
    let dir = TempDir::new().unwrap();
    let large = large(&dir);
    for writer in writers(&large) {
        let out = dir.path().join("out");
        fs::create_dir(&out).unwrap();
        let file = out.join("file");
        fs::write(&file, "old").unwrap();
        let failed = on_a_full_disk(0, &writer, &file);
        let err = String::from_utf8_lossy(&failed.stderr);
        assert!(failed.status.code() == Some(2) && err.contains("too large"), "{writer:?}: {err}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "old", "{writer:?}");
        assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "{writer:?}");
        // With enough space it is replaced.
        let written = on_a_full_disk(100_000, &writer, &file);
        assert!(matches!(written.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&written.stderr));
        assert!(fs::metadata(&file).unwrap().len() > 100, "{writer:?}");
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn what_is_no_file_is_written_and_stays_what_it_is() {
    let dir = TempDir::new().unwrap();
    let large = large(&dir);
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for writer in writers(&large) {
        // Output to a device that accepts everything, and to one that accepts nothing.
        for (device, statuses) in [("/dev/null", &[0, 1][..]), ("/dev/full", &[2])] {
            let output = on_a_full_disk(100_000, &writer, Path::new(device));
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code().is_some_and(|code| statuses.contains(&code)), "{writer:?} {device}: {err}");
            assert!(fs::metadata(device).unwrap().file_type().is_char_device(), "{writer:?} {device}");
        }
        let taken = dir.path().join("taken");
        let mut reader = Command::new("cat").arg(&pipe).stdout(fs::File::create(&taken).unwrap()).spawn().unwrap();
        on_a_full_disk(100_000, &writer, &pipe);
        assert!(reader.wait().unwrap().success());
        assert!(fs::metadata(&taken).unwrap().len() > 100, "{writer:?}");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo(), "{writer:?}");
    }
}

/// What may be killed: each command that writes a file, those that write while they ask, and what prints an answer.
fn killed(dir: &TempDir) -> Vec<Vec<String>> {
    let large = large(dir);
    let kept = dir.path().join("kept.jsonl");
    let to = format!("jsonl={}", kept.display());
    Command::new(TOOL).args(["conform", "types/*", "--report", &to]).status().unwrap();
    let mistaken = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/faults/mistaken.py");
    let mark = dir.path().join("mark").display().to_string();
    let adapter = |from: &str, to: &str| {
        shlex::try_join(["python3", "-S", "-E", mistaken, from, to, &mark, TOOL, "adapter"]).unwrap()
    };
    let pairs = adapter("Incompatible", "Compatible");
    let programs = adapter("\"Accepted\"", "{\"Rejected\": [\"WF.5.BEFORE\"]}");
    let line = |words: &[&str]| words.iter().map(|word| (*word).to_string()).collect::<Vec<String>>();
    let kept = kept.display().to_string();
    let small = dir.path().join("small.py");
    fs::write(&small, "@R.function\ndef main(x: R.Tensor((3,), \"float32\")):\n    return R.add(x, x)\n").unwrap();
    let small = small.display().to_string();
    let mut lines = writers(&large);
    lines.extend([
        line(&["report", "merge", &kept, "--report", "html=OUT"]),
        line(&["report", "merge", &kept, "--report", "md=OUT"]),
        line(&["fuzz", "--kind", "infos", "--runs", "50", "--adapter", &pairs, "--report", "jsonl=OUT"]),
        line(&[
            "fuzz",
            "--runs",
            "3",
            "--paths",
            "check",
            "--reduce",
            "4",
            "--bindings",
            "8",
            "--adapter",
            &programs,
            "--report",
            "jsonl=OUT",
        ]),
        line(&["refine", &small, &small, "--format", "json", "--runs", "20"]),
        line(&["export", "--json", "OUT.d"]),
    ]);
    lines
}

/// Runs a command in a directory of its own, in which OUT is, and kills it after a while.
fn run_for(args: &[String], here: &Path, most: Option<Duration>) -> Duration {
    let out = here.join("out");
    let printed = fs::File::create(here.join("printed.json")).unwrap();
    let args = args.iter().map(|arg| arg.replace("OUT", &out.display().to_string()));
    let start = Instant::now();
    let mut child = Command::new(TOOL).args(args).stdout(printed).stderr(Stdio::null()).spawn().unwrap();
    if let Some(most) = most {
        std::thread::sleep(most);
        let _ = child.kill();
    }
    child.wait().unwrap();
    start.elapsed()
}

/// All files below a directory, except those whose names say that they are temporary.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else if !entry.file_name().unwrap().to_string_lossy().starts_with(".tmp") {
            found.push(entry);
        }
    }
    found
}

/// Why a file is neither whole nor JSON Lines to its last line. `whole` is what a run that ends leaves.
fn broken(file: &Path, whole: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let end = fs::read_to_string(whole).ok()?;
    let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    if text.is_empty() || text == "old" || text == end {
        return None;
    }
    // The times in it differ from run to run, but not how it ends.
    let last = |text: &str| text.trim_end().chars().rev().take(8).collect::<String>();
    if !end.lines().next().is_some_and(is_json) || end.lines().count() < 2 {
        return (last(&text) != last(&end)).then(|| format!("{} of {} bytes", text.len(), end.len()));
    }
    let whole_lines = text.rsplit_once('\n').map_or("", |(lines, _half)| lines);
    whole_lines.lines().find(|line| !is_json(line)).map(|line| format!("no JSON: {line}"))
}

/// If a command is killed, whenever that is, what it writes line by line can be read to its last line. Anything else is
/// the old file or the new one, or it is not there.
#[test]
fn who_is_killed_at_any_moment_leaves_whole_files() {
    let dir = TempDir::new().unwrap();
    let mut random = fastrand::Rng::with_seed(52);
    let mut kills = 0;
    for args in killed(&dir) {
        let whole = TempDir::new().unwrap();
        let takes = run_for(&args, whole.path(), None);
        assert!(
            files(whole.path()).iter().any(|file| fs::metadata(file).unwrap().len() > 0),
            "{args:?} writes nothing"
        );
        for _ in 0..3 {
            let here = TempDir::new().unwrap();
            fs::write(here.path().join("out"), "old").unwrap();
            run_for(&args, here.path(), Some(takes.mul_f64(random.f64() * 1.1)));
            kills += 1;
            for file in files(here.path()) {
                let name = file.strip_prefix(here.path()).unwrap();
                let fault = broken(&file, &whole.path().join(name));
                assert!(fault.is_none(), "{args:?}, {}: {fault:?}", name.display());
            }
        }
    }
    assert!(kills >= 30, "{kills}");
}

/// Files are written whole, by one function. Only where nobody sees a half may another one write.
#[test]
fn no_command_writes_a_file_in_its_own_way() {
    // A stream of lines, a folder that is renamed, scripts and texts in temporary directories, and the lock of a cache.
    let own = [
        "cli/src/reports.rs",
        "cli/src/folder.rs",
        "cli/src/serve.rs",
        "server/src/mcp.rs",
        "ask/src/adapters.rs",
        "ask/src/checkout.rs",
    ];
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for name in ["ask", "campaign", "cli", "server"] {
        for file in files(&crates.join(name).join("src")) {
            if own.iter().any(|own| file.ends_with(own)) || file.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for way in ["fs::write(", "File::create", "OpenOptions", "fs::rename("] {
                assert!(!code.contains(way), "{}: {way}", file.display());
            }
        }
    }
}
