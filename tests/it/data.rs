//! NumPy arrays as input and output: `--arg @FILE`, `--args`, `--save`, and the printed form of large tensors.

use std::fs::{self, File};
use std::io::Write as _;

use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::cli::run;

/// Programs that return their arguments in parts.
const PROGRAM: &str = r#"
@I.ir_module
class Module:
    @R.function
    def same(x: R.Tensor(ndim=2)) -> R.Tensor(ndim=2):
        return x
    @R.function
    def any(x: R.Object) -> R.Object:
        return x
    @R.function
    def scale(x: R.Tensor(("n", "m"), "float32"), w: R.Tensor(("m",), "float32"), b: R.Tensor(("m",), "float32")) -> R.Tensor(("n", "m"), "float32"):
        y: R.Tensor((n, m), "float32") = R.multiply(x, w)
        z: R.Tensor((n, m), "float32") = R.add(y, b)
        return z
    @R.function
    def parts(t: R.Tuple(R.Tensor((2,), "int64"), R.Shape([2, 3])), k: R.Prim("int64")) -> R.Tuple(R.Tuple(R.Tensor((2,), "int64"), R.Shape([2, 3])), R.Prim("int64")):
        u = (t, k)
        return u
    @R.function
    def layer(image: R.Tensor((3, 224, 224), "float32"), weight: R.Tensor((150528, 166), "float32")) -> R.Tensor((1, 166), "float32"):
        flat: R.Tensor((1, 150528), "float32") = R.reshape(image, (1, 150528))
        out: R.Tensor((1, 166), "float32") = R.matmul(flat, weight)
        return out
"#;

struct Bench {
    dir: TempDir,
    program: String,
}

impl Bench {
    fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program.py").display().to_string();
        fs::write(&program, PROGRAM).unwrap();
        Bench { dir, program }
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        fs::write(self.dir.path().join(name), content).unwrap();
        self.path(name)
    }

    fn archive(&self, name: &str, method: CompressionMethod, arrays: &[(&str, Vec<u8>)]) -> String {
        let mut archive = ZipWriter::new(File::create(self.dir.path().join(name)).unwrap());
        for (name, content) in arrays {
            let options = SimpleFileOptions::default().compression_method(method);
            archive.start_file(format!("{name}.npy"), options).unwrap();
            archive.write_all(content).unwrap();
        }
        archive.finish().unwrap();
        self.path(name)
    }

    /// Runs an entry point. Returns its exit status and its output, with errors after results.
    fn run(&self, entry: &str, args: &[&str]) -> (i32, String) {
        let (status, out, err) = run(&[&["run", &self.program, "--entry", entry], args].concat());
        (status, out + &err)
    }

    /// The output of the identity for a file.
    fn read(&self, content: &[u8]) -> (i32, String) {
        let path = self.file("x.npy", content);
        self.run("any", &["--arg", &format!("@{path}")])
    }
}

/// An `.npy` of version 1.
fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while !(10 + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes(), data].concat()
}

fn floats(shape: &str, numbers: &[f32]) -> Vec<u8> {
    npy("'<f4'", "False", shape, &numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

#[test]
fn arrays_of_every_type_and_order_are_read() {
    let bench = Bench::new();
    let numbers = |bytes: &[&[u8]]| bytes.concat();
    let rows: [(&str, Vec<u8>, &str); 12] = [
        ("'|b1'", vec![0, 1], "[false, true]:bool"),
        ("'|i1'", vec![0xff, 2], "[-1, 2]:int8"),
        ("'|u1'", vec![0xff, 2], "[255, 2]:uint8"),
        ("'<i2'", numbers(&[&(-3i16).to_le_bytes(), &4i16.to_le_bytes()]), "[-3, 4]:int16"),
        ("'>i4'", numbers(&[&(-3i32).to_be_bytes(), &4i32.to_be_bytes()]), "[-3, 4]:int32"),
        ("'<i8'", numbers(&[&i64::MIN.to_le_bytes(), &4i64.to_le_bytes()]), "[-9223372036854775808, 4]:int64"),
        ("'>u8'", numbers(&[&u64::MAX.to_be_bytes(), &4u64.to_be_bytes()]), "[18446744073709551615, 4]:uint64"),
        ("'<f2'", vec![0x00, 0x3c, 0x00, 0x80], "[1.0, -0.0]:float16"),
        ("'<V2'", vec![0x80, 0x3f, 0x80, 0xff], "[1.0, -inf]:bfloat16"),
        ("'|V2'", vec![0x80, 0x3f, 0x20, 0xc0], "[1.0, -2.5]:bfloat16"),
        ("'>f4'", numbers(&[&0.1f32.to_be_bytes(), &f32::NAN.to_be_bytes()]), "[0.10000000149011612, NaN]:float32"),
        ("'<f8'", numbers(&[&0.1f64.to_le_bytes(), &4f64.to_le_bytes()]), "[0.1, 4.0]:float64"),
    ];
    for (descr, data, printed) in rows {
        assert_eq!(bench.read(&npy(descr, "False", "(2,)", &data)), (0, format!("{printed}\n")), "{descr}");
    }
    let fortran = npy("'|u1'", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6]);
    assert_eq!(bench.read(&fortran), (0, "[[1, 2, 3],\n [4, 5, 6]]:uint8\n".into()));
    let fortran = npy("'|u1'", "True", "(2, 1, 3)", &[1, 4, 2, 5, 3, 6]);
    assert_eq!(bench.read(&fortran), (0, "[[[1, 2, 3]],\n [[4, 5, 6]]]:uint8\n".into()));
    assert_eq!(bench.read(&npy("'<f4'", "False", "()", &1f32.to_le_bytes())), (0, "1.0:float32\n".into()));
    assert_eq!(bench.read(&npy("'<f4'", "True", "(0, 5)", &[])), (0, "[]:float32\n".into()));
}

#[test]
fn what_is_no_array_is_told_with_exit_status_2() {
    let bench = Bench::new();
    let good = floats("(3,)", &[1.0, 2.0, 3.0]);
    let deep = npy("'<f4'", "False", &format!("{}1{}", "(".repeat(5000), ")".repeat(5000)), &[]);
    let long = [b"\x93NUMPY\x02\x00", &u32::MAX.to_le_bytes()[..], b"{}"].concat();
    let rows: [(Vec<u8>, &str); 20] = [
        (good[..good.len() - 1].to_vec(), "12 bytes of data, and there are 11"),
        (good[..40].to_vec(), "header"),
        (good[..9].to_vec(), "header"),
        ([&good[..], b"!"].concat(), "something follows"),
        (b"\x93NUMPX\x01\x00".to_vec(), "neither an .npy nor an .npz"),
        (b"".to_vec(), "neither an .npy nor an .npz"),
        (b"PK\x03\x04and no more".to_vec(), "archive"),
        ([b"\x93NUMPY\x09\x00", &good[8..]].concat(), "header"),
        (long, "4294967295 bytes"),
        (deep, "too deep"),
        (npy("'<f4'", "False", "(4294967296, 4294967296)", &[]), "more bytes than there are"),
        (npy("'<f4'", "False", "(9223372036854775807,)", &[]), "more bytes than there are"),
        (npy("'<f4'", "False", "(-1,)", &[]), "header"),
        (npy("'<f4'", "Perhaps", "(1,)", &[0; 4]), "header"),
        (npy("'|O'", "False", "(1,)", b"\x80\x04K\x01."), "objects of Python"),
        (npy("'<c8'", "False", "(1,)", &[0; 8]), "complex"),
        (npy("'<U3'", "False", "(1,)", &[0; 12]), "texts"),
        (npy("'|V1'", "False", "(1,)", &[0; 1]), "which float8 or int4"),
        (npy("[('a', '<f4')]", "False", "(1,)", &[0; 4]), "records"),
        (npy("'|b1'", "False", "(1,)", &[7]), "not a Boolean"),
    ];
    for (content, told) in rows {
        let (status, text) = bench.read(&content);
        assert!(status == 2 && text.contains(told) && text.contains("x.npy"), "{told}: {status} {text}");
    }
    let (status, text) = bench.run("any", &["--arg", "@/nowhere.npy"]);
    assert!(status == 2 && text.contains("/nowhere.npy"), "{text}");
    // An array that exceeds the memory limit is not a fault of the file.
    let path = bench.file("large.npy", &floats("(3,)", &[1.0; 3]));
    let (status, text) = bench.run("any", &["--arg", &format!("@{path}"), "--memory", "8"]);
    assert!(status == 5 && text.contains("--memory"), "{status} {text}");
    let claim = bench.file("claim.npy", &npy("'<f4'", "False", "(1099511627776,)", &[]));
    assert_eq!(bench.run("any", &["--arg", &format!("@{claim}")]).0, 2);
}

#[test]
fn arrays_are_taken_by_name() {
    let bench = Bench::new();
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let arrays = [("w", floats("(2,)", &[10.0, 100.0])), ("b", floats("(2,)", &[0.5, 0.25]))];
        let weights = bench.archive("weights.npz", method, &arrays);
        let image = bench.file("image.npy", &floats("(1, 2)", &[1.0, 2.0]));
        let (image, w, b) = (format!("@{image}"), format!("@{weights}:w"), format!("@{weights}:b"));
        let expected = (0, "[[10.5, 200.25]]:float32\n".to_string());
        assert_eq!(bench.run("scale", &["--arg", &image, "--args", &weights]), expected);
        assert_eq!(bench.run("scale", &["--arg", &image, "--arg", &w, "--arg", &b]), expected);
        let wrong: [(&[&str], &str); 7] = [
            (&["--args", &weights], "no array `x`, and no --arg"),
            (&["--args", &weights, "--arg", &image, "--arg", &image], "1 --arg more"),
            (&["--args", &weights, "--args", &weights, "--arg", &image], "`w` is given twice"),
            (&["--arg", &format!("@{weights}"), "--arg", &w, "--arg", &b], "which of its arrays? b, w"),
            (&["--arg", &format!("@{weights}:v"), "--arg", &w, "--arg", &b], "no array `v`; there are: b, w"),
            (&["--args", &bench.file("one.npy", &floats("()", &[1.0]))], "`x`"),
            (&["--random", "--args", &weights], "cannot be used with"),
        ];
        for (args, told) in wrong {
            let (status, text) = bench.run("scale", args);
            assert!(status == 2 && text.contains(told), "{told}: {status} {text}");
        }
        let (status, text) = bench.run("same", &["--args", &weights]);
        assert!(status == 2 && text.contains("`b` is no parameter; they are: x"), "{text}");
        let entry = ["--entry", "scale", "--runs", "0", "--arg", &image, "--args", &weights];
        let (status, out, err) = run(&[&["refine", &bench.program, &bench.program], &entry[..]].concat());
        assert!(status == 0 && out.starts_with("allowed on 1 inputs"), "{out}{err}");
    }
    // An archive with changed bytes is invalid.
    let stored = bench.archive("changed.npz", CompressionMethod::Stored, &[("x", floats("(2,)", &[1.5, 2.5]))]);
    let mut bytes = fs::read(&stored).unwrap();
    let at = bytes.windows(4).position(|four| four == 2.5f32.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    fs::write(&stored, bytes).unwrap();
    assert_eq!(bench.run("any", &["--arg", &format!("@{stored}")]).0, 2);
}

/// An image with 100 MB of weights fits into the default limits.
#[test]
fn a_large_layer_is_run_within_the_usual_limits() {
    let bench = Bench::new();
    let args = ["--arg", "ones(3, 224, 224):float32", "--arg", "ones(150528, 166):float32"];
    let sums = format!("[[{}]]:float32\n", ["150528.0"; 166].join(", "));
    for engine in ["evaluator", "vm"] {
        assert_eq!(bench.run("layer", &[&args[..], &["--engine", engine]].concat()), (0, sums.clone()), "{engine}");
    }
}

#[test]
fn what_is_saved_is_read_back() {
    let bench = Bench::new();
    let out = bench.path("out.npz");
    for (value, printed) in [
        ("[[1, -0.0], [inf, nan]]:bfloat16", "[[1.0, -0.0],\n [inf, NaN]]:bfloat16\n"),
        ("[[1.5, 0.1]]:float16", "[[1.5, 0.0999755859375]]:float16\n"),
        ("iota(2, 2):uint8", "[[0, 1],\n [2, 3]]:uint8\n"),
        ("[[true], [false]]:bool", "[[true],\n [false]]:bool\n"),
        ("zeros(0, 3):int16", "[]:int16\n"),
    ] {
        let expected = (0, printed.to_string());
        assert_eq!(bench.run("same", &["--arg", value, "--save", &out]), expected, "{value}");
        for place in [format!("@{out}"), format!("@{out}:0")] {
            assert_eq!(bench.run("same", &["--arg", &place]), expected, "{value}");
        }
    }
    // Fields are named by numbers. A signature determines which arrays are shapes and boxed scalars.
    let tuple = ["--arg", "([1, 2]:int64, shape(2, 3))", "--arg", "7"];
    let printed = (0, "(([1, 2]:int64, shape(2, 3)), 7)\n".to_string());
    assert_eq!(bench.run("parts", &[&tuple[..], &["--save", &out]].concat()), printed);
    let fields = format!("(@{out}:0.0, @{out}:0.1)");
    assert_eq!(bench.run("parts", &["--arg", &fields, "--arg", &format!("@{out}:1")]), printed);
    let names = ZipArchive::new(File::open(&out).unwrap()).unwrap();
    assert_eq!(
        names.file_names().map(|name| name.unwrap().to_string()).collect::<Vec<_>>(),
        ["0.0.npy", "0.1.npy", "1.npy"]
    );
    let mut renamed = ZipArchive::new(File::open(&out).unwrap()).unwrap();
    let arrays = [("0.0", "t.0"), ("0.1", "t.1"), ("1", "k")].map(|(from, to)| {
        let mut content = Vec::new();
        std::io::copy(&mut renamed.by_name(&format!("{from}.npy")).unwrap(), &mut content).unwrap();
        (to, content)
    });
    let args = bench.archive("args.npz", CompressionMethod::Deflated, &arrays);
    assert_eq!(bench.run("parts", &["--args", &args]), printed);
    // A value that cannot be an array is printed and not saved. An existing file stays.
    let before = fs::read(&out).unwrap();
    let (status, text) = bench.run("any", &["--arg", "packed(f)", "--save", &out]);
    assert!(status == 2 && text.contains("no array"), "{text}");
    assert_eq!(fs::read(&out).unwrap(), before);
    assert_eq!(
        fs::read_dir(bench.dir.path())
            .unwrap()
            .filter(|entry| { entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".tmp") })
            .count(),
        0
    );
}

#[test]
fn a_large_result_is_printed_in_part_and_saved_whole() {
    let bench = Bench::new();
    let out = bench.path("out.npz");
    let printed = bench.run("same", &["--arg", "iota(40, 50):int64", "--save", &out]);
    assert!(printed.0 == 0 && printed.1.lines().count() == 7, "{printed:?}");
    assert!(
        printed.1.starts_with("[[0, 1, 2, ..., 47, 48, 49],\n") && printed.1.ends_with("]]:int64, shape=(40, 50)\n")
    );
    let (status, whole) = bench.run("same", &["--arg", &format!("@{out}"), "--full"]);
    assert!(status == 0 && whole.lines().count() == 40 && !whole.contains("..."), "{whole}");
    assert_eq!(bench.run("same", &["--full", "--arg", whole.trim()]).1, whole);
}

#[test]
fn a_tuple_of_very_many_fields_is_read_in_time() {
    const FIELDS: usize = 40_000;
    let bench = Bench::new();
    let names: Vec<String> = (0..FIELDS).map(|i| format!("x.{i}")).collect();
    let arrays: Vec<(&str, Vec<u8>)> =
        names.iter().enumerate().map(|(i, name)| (name.as_str(), floats("()", &[i as f32]))).collect();
    let archive = bench.archive("many.npz", CompressionMethod::Stored, &arrays);
    let started = std::time::Instant::now();
    let (status, text) = bench.run("any", &["--args", &archive]);
    assert_eq!(status, 0);
    assert!(text.starts_with("(0.0:float32, 1.0:float32") && text.ends_with("39999.0:float32)\n"));
    // This takes a second. Comparing each field with each other one would take minutes.
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
