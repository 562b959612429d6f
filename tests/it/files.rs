//! The output files of commands. On a full disk the old file stays, and no temporary one is left. Anything but a
//! regular file is written, and not replaced.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::{Command, Output};

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

/// If a command is killed while it writes, the old file or the new one is there, never a part.
#[test]
fn who_is_killed_while_writing_leaves_a_whole_file() {
    let dir = TempDir::new().unwrap();
    let large = large(&dir);
    let file = dir.path().join("file");
    let writer = writers(&large).swap_remove(0);
    let new = {
        on_a_full_disk(100_000, &writer, &file);
        fs::read(&file).unwrap()
    };
    for wait in 0..20 {
        fs::write(&file, "old").unwrap();
        let args = writer.iter().map(|arg| arg.replace("OUT", &file.display().to_string()));
        let mut child = Command::new(TOOL).args(args).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait * 15));
        let _ = child.kill();
        child.wait().unwrap();
        let found = fs::read(&file).unwrap();
        assert!(found == b"old" || found == new, "{} bytes after {wait}", found.len());
    }
}
