//! Arguments as they are given: values, and arrays in files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::arrays::{ArrayError, Arrays, is_written};
use super::terminal::remark;
use super::{Exit, Failure, value};
use relax_spec::eval;
use relax_spec::grammar::{
    AttrValue, Binder, DataType, Function, GlobalFunc, IrModule, Name, StructInfo, TensorData, visible,
};
use relax_spec::judge::{Cx, with_stack};
use relax_spec::value::{Scalar, Tensor, ValueSpec};

/// The arguments of a function.
#[derive(clap::Args)]
pub struct EntryArguments {
    /// An argument; give one for each parameter. `@FILE.npy`, `@FILE.npz:NAME` and
    /// `@FILE.safetensors:NAME` are arrays in files
    #[arg(long = "arg", value_name = "VALUE", value_parser = argument, allow_hyphen_values = true)]
    args: Vec<ArgumentSpec>,
    /// Arrays for parameters by name, in a file of NumPy or of safetensors; the other parameters take the values of
    /// --arg in order. The fields of a tuple `x` are named `x.0`, `x.1`, .. A weight may have the name that it has in
    /// the model: `fc1.weight` is the parameter `fc1_weight` or `p_fc1_weight`
    #[arg(long = "args", value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// An argument.
#[derive(Clone, Debug)]
enum ArgumentSpec {
    Value(ValueSpec),
    Array { path: PathBuf, name: Option<String> },
    Tuple(Vec<ArgumentSpec>),
}

impl ArgumentSpec {
    /// The files that it names.
    fn paths(&self) -> Vec<&Path> {
        match self {
            ArgumentSpec::Value(_) => Vec::new(),
            ArgumentSpec::Array { path, name: _ } => vec![path.as_path()],
            ArgumentSpec::Tuple(fields) => with_stack(|| fields.iter().flat_map(ArgumentSpec::paths).collect()),
        }
    }
}

/// Reads an argument; files are read later.
fn argument(text: &str) -> Result<ArgumentSpec, String> {
    let text = text.trim();
    if let Some(place) = text.strip_prefix('@') {
        let named = |ending: &str| {
            let (path, name) = place.rsplit_once(&format!("{ending}:"))?;
            Some((format!("{path}{ending}"), Some(name.to_string())))
        };
        let (path, name) = named(".npz").or_else(|| named(".safetensors")).unwrap_or_else(|| (place.to_string(), None));
        return Ok(ArgumentSpec::Array { path: path.into(), name });
    }
    match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(fields) if fields.contains('@') => {
            value::refuse_depth(text)?;
            let fields = value::items(fields);
            with_stack(|| fields.into_iter().map(argument).collect::<Result<_, _>>().map(ArgumentSpec::Tuple))
        }
        Some(_) | None => value::parse(text).map(ArgumentSpec::Value),
    }
}

impl EntryArguments {
    /// Arrays in these files.
    #[cfg(test)]
    pub fn of_files(files: impl IntoIterator<Item = PathBuf>) -> EntryArguments {
        EntryArguments { args: Vec::new(), files: files.into_iter().collect() }
    }

    /// Whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.args.is_empty() && self.files.is_empty()
    }

    /// The bytes of the files of arrays.
    pub fn size(&self) -> u64 {
        let paths: BTreeSet<&Path> =
            self.args.iter().flat_map(ArgumentSpec::paths).chain(self.files.iter().map(PathBuf::as_path)).collect();
        paths.iter().filter_map(|path| fs::metadata(path).ok()).map(|found| found.len()).fold(0, u64::saturating_add)
    }

    /// The default of the memory of a run: the usual one, and room for the files of arrays.
    pub fn memory(&self) -> u64 {
        eval::EvalOptions::default().memory.saturating_add(self.size())
    }

    /// The arguments of a function. Its signature decides if an array can have several meanings. Arrays occupy up to
    /// `memory` bytes.
    pub fn load(&self, func: Option<&Function>, memory: u64) -> Result<Vec<ValueSpec>, Failure> {
        let mut loader = Loader { memory, open: BTreeMap::new() };
        let annotations = func.map(|func| func.params.iter().map(|param| param.annotation.as_ref()).collect());
        let annotations: Vec<Option<&StructInfo>> = annotations.unwrap_or_default();
        if self.files.is_empty() {
            let annotation = |i: usize| annotations.get(i).copied().flatten();
            return self.args.iter().enumerate().map(|(i, arg)| loader.argument(arg, annotation(i))).collect();
        }
        let func = func.ok_or_else(|| Failure::unreadable("--args needs an entry point with named parameters"))?;
        let names: Vec<&str> = func.params.iter().map(|param| param.var.name.as_ref()).collect();
        let mut found = self.by_name(&names, &annotations, &mut loader)?;
        let mut rest = self.args.iter();
        let mut values = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            values.push(match found.remove(name) {
                Some(value) => value,
                None => {
                    let nothing = || Failure::unreadable(format!("there is no array `{name}`, and no --arg for it"));
                    loader.argument(rest.next().ok_or_else(nothing)?, annotations.get(i).copied().flatten())?
                }
            });
        }
        match rest.count() {
            0 => Ok(values),
            more => Err(Failure::unreadable(format!("{more} --arg more than parameters without an array"))),
        }
    }

    /// The values for parameters from the files, by name.
    fn by_name<'n>(
        &self,
        names: &[&'n str],
        annotations: &[Option<&StructInfo>],
        loader: &mut Loader,
    ) -> Result<BTreeMap<&'n str, ValueSpec>, Failure> {
        let mut found = BTreeMap::new();
        let parameters: FxHashSet<&str> = names.iter().copied().collect();
        for path in &self.files {
            let arrays = loader.arrays(path)?.names();
            let arrays = ArrayNames::of(&arrays, &parameters).map_err(|wrong| {
                let message = match wrong {
                    WrongArray::Stray(name) => format!("`{name}` is no parameter; they are: {}", names.join(", ")),
                    WrongArray::Twice(name) => format!("`{name}` is given twice"),
                };
                Failure::unreadable(format!("{}: {message}", path.display()))
            })?;
            for (name, annotation) in names.iter().zip(annotations) {
                if !arrays.beginnings.contains(name) {
                    continue;
                }
                let value = loader.named(path, name, &arrays, *annotation)?;
                if found.insert(*name, value).is_some() {
                    return Err(Failure::unreadable(format!("{}: `{name}` is given twice", path.display())));
                }
            }
        }
        Ok(found)
    }
}

/// The names of the arrays of a file.
struct ArrayNames<'a> {
    /// The arrays by the names of their parameters, or of the fields of these.
    whole: FxHashMap<&'a str, &'a str>,
    /// The names, with all their prefixes before a dot, which are the tuples that they belong to.
    beginnings: FxHashSet<&'a str>,
}

/// The reason why an array cannot be an argument.
enum WrongArray<'a> {
    /// It has the name of no parameter.
    Stray(&'a str),
    /// Another array is for the same parameter.
    Twice(&'a str),
}

impl<'a> ArrayNames<'a> {
    fn of(arrays: &'a [String], parameters: &FxHashSet<&'a str>) -> Result<ArrayNames<'a>, WrongArray<'a>> {
        let mut names = ArrayNames { whole: FxHashMap::default(), beginnings: FxHashSet::default() };
        for array in arrays {
            let is_written = beginnings(array).any(|name| parameters.contains(name));
            let name = if is_written { Some(array.as_str()) } else { of_exporter(array, parameters) };
            let name = name.ok_or(WrongArray::Stray(array))?;
            names.beginnings.extend(beginnings(name));
            if names.whole.insert(name, array).is_some() {
                return Err(WrongArray::Twice(name));
            }
        }
        Ok(names)
    }
}

/// The parameter for a weight of a model, `fc1.weight` for example. Importers write the name with underscores, and put
/// `p_` before those of parameters and `b_` before those of buffers.
fn of_exporter<'p>(array: &str, parameters: &FxHashSet<&'p str>) -> Option<&'p str> {
    let plain: String = array.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let spelt = ["", "p_", "b_"].map(|before| format!("{before}{plain}"));
    spelt.iter().find_map(|name| parameters.get(name.as_str()).copied())
}

/// `x.0.1`, `x.0` and `x` for the first: the values that an array can be, or be a field of.
fn beginnings(array: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(array), |name| name.rsplit_once('.').map(|(before, _)| before))
}

/// The function to start: the named one, `main`, or the only one that can be started.
pub fn entry(cx: &mut Cx, module: &IrModule, named: Option<&str>) -> Result<Name, Failure> {
    if let Some(name) = named {
        return Ok(name.into());
    }
    match (eval::default_entry(cx, module), exported(module).as_slice()) {
        (Err(_), [only]) => {
            remark(&format!("note: there is no `main`; `{}` is the only entry point\n", visible(only)));
            Ok(only.clone())
        }
        (chosen, _) => chosen.map_err(Failure::unreadable),
    }
}

/// The names by which functions of a module can be started.
pub fn exported(module: &IrModule) -> Vec<Name> {
    let symbol = |func: &Function| match func.attrs.get("global_symbol") {
        Some(AttrValue::Str(symbol)) => Some(symbol.clone()),
        Some(_) | None => None,
    };
    let linked = module.funcs.iter().filter_map(|(_, func)| match func {
        GlobalFunc::Function(func) => symbol(func),
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    });
    linked.collect()
}

/// Fails unless there are as many arguments as parameters, and names the parameters.
pub fn one_for_each_parameter(entry: &str, func: Option<&Function>, given: usize) -> Result<(), Failure> {
    let Some(params) = func.map(|func| func.params.as_slice()).filter(|params| params.len() != given) else {
        return Ok(());
    };
    let param = |param: &Binder| match &param.annotation {
        Some(info) => format!("{}: {info}", param.var.name),
        None => param.var.name.to_string(),
    };
    let list = |params: &[Binder]| params.iter().map(param).collect::<Vec<String>>().join(", ");
    let arguments = if params.len() == 1 { "1 argument".to_string() } else { format!("{} arguments", params.len()) };
    let message = match params.get(given..) {
        Some(missing) => format!("and {given} given; without a value: {}", list(missing)),
        None => format!("and {given} given; the parameters: {}", list(params)),
    };
    let help = "--arg VALUE gives one after the other, --args FILE arrays by name";
    Err(Failure::unreadable(format!("`{entry}` takes {arguments}, {message}\nhelp: {help}")))
}

/// Reads arrays from files. Each file is opened once.
struct Loader {
    /// The number of bytes left for arrays.
    memory: u64,
    open: BTreeMap<PathBuf, Arrays>,
}

impl Loader {
    fn argument(&mut self, argument: &ArgumentSpec, annotation: Option<&StructInfo>) -> Result<ValueSpec, Failure> {
        with_stack(|| match argument {
            ArgumentSpec::Value(value) => Ok(value.clone()),
            ArgumentSpec::Array { path, name } => self.array(path, name.as_deref(), annotation),
            ArgumentSpec::Tuple(fields) => {
                let fields = fields.iter().enumerate().map(|(i, field)| self.argument(field, field_of(annotation, i)));
                fields.collect::<Result<_, _>>().map(ValueSpec::Tuple)
            }
        })
    }

    /// The array of a name, or a tuple of the arrays of its fields.
    fn named(
        &mut self,
        path: &Path,
        name: &str,
        arrays: &ArrayNames<'_>,
        annotation: Option<&StructInfo>,
    ) -> Result<ValueSpec, Failure> {
        if let Some(array) = arrays.whole.get(name).copied() {
            return self.array(path, Some(array), annotation);
        }
        let mut fields = Vec::new();
        loop {
            let field = format!("{name}.{}", fields.len());
            if !arrays.beginnings.contains(field.as_str()) {
                break;
            }
            let annotation = field_of(annotation, fields.len());
            fields.push(with_stack(|| self.named(path, &field, arrays, annotation))?);
        }
        match fields.is_empty() {
            true => Err(Failure::unreadable(format!("{}: there is no array `{name}.0`", path.display()))),
            false => Ok(ValueSpec::Tuple(fields)),
        }
    }

    fn array(
        &mut self,
        path: &Path,
        name: Option<&str>,
        annotation: Option<&StructInfo>,
    ) -> Result<ValueSpec, Failure> {
        let mut memory = self.memory;
        let array = self.arrays(path)?.read(name, &mut memory);
        self.memory = memory;
        // An `.npy` is read once.
        if name.is_none() {
            self.open.remove(path);
        }
        array.map(|data| value_of(data, annotation)).map_err(|error| failure(path, error))
    }

    fn arrays(&mut self, path: &Path) -> Result<&mut Arrays, Failure> {
        match self.open.entry(path.to_path_buf()) {
            std::collections::btree_map::Entry::Occupied(known) => Ok(known.into_mut()),
            std::collections::btree_map::Entry::Vacant(place) => {
                Ok(place.insert(Arrays::open(path).map_err(|error| failure(path, error))?))
            }
        }
    }
}

/// The failure for an unusable file, in words.
pub fn failure(path: &Path, error: ArrayError) -> Failure {
    let exit = match &error {
        ArrayError::Memory(_) => Exit::StoppedEarly,
        ArrayError::Io(_)
        | ArrayError::Magic
        | ArrayError::Header(_)
        | ArrayError::Zip(_)
        | ArrayError::Safe(_)
        | ArrayError::Elements(..)
        | ArrayError::Overflow(_)
        | ArrayError::Truncated { .. }
        | ArrayError::Trailing(_)
        | ArrayError::Data(_)
        | ArrayError::Name(..)
        | ArrayError::Which(_) => Exit::Unreadable,
    };
    Failure::new(exit, format!("{}: {error}", path.display()))
}

fn field_of(annotation: Option<&StructInfo>, i: usize) -> Option<&StructInfo> {
    match annotation {
        Some(StructInfo::Tuple(fields)) => fields.get(i),
        Some(
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Func(_),
        )
        | None => None,
    }
}

/// An array as a tensor, or as a shape or a boxed scalar if that is expected.
fn value_of(data: TensorData, annotation: Option<&StructInfo>) -> ValueSpec {
    let read = Tensor::from_data(&data).ok();
    match (annotation, read) {
        (Some(StructInfo::Shape(_)), Some(tensor)) if tensor.shape().len() == 1 => {
            let size = |i| match tensor.get(i) {
                Some(Scalar::Int(size)) => Some(size),
                Some(Scalar::UInt(_) | Scalar::Bool(_) | Scalar::Float(_) | Scalar::Ring(_)) | None => None,
            };
            let sizes: Option<Vec<i64>> = (0..tensor.len()).map(size).collect();
            sizes.map_or(ValueSpec::Tensor(data), ValueSpec::Shape)
        }
        (Some(StructInfo::Prim(_)), Some(tensor)) if tensor.shape().is_empty() => match tensor.get(0) {
            Some(Scalar::Bool(truth)) => ValueSpec::Bool(truth),
            Some(Scalar::Int(i)) => ValueSpec::Int(i),
            Some(Scalar::Float(x)) => ValueSpec::Float(relax_spec::grammar::FloatBits::new(x)),
            Some(Scalar::UInt(_) | Scalar::Ring(_)) | None => ValueSpec::Tensor(data),
        },
        (Some(_) | None, Some(_) | None) => ValueSpec::Tensor(data),
    }
}

/// The arrays of a result. A tuple becomes its fields, named by numbers, recursively; any other value becomes `0`. A
/// shape becomes an array of int64, and a boxed scalar one without dimensions.
///
/// # Errors
///
/// The name of a part that cannot be an array.
pub fn arrays_of(result: &ValueSpec) -> Result<Vec<(String, TensorData)>, String> {
    let mut arrays = Vec::new();
    match result {
        ValueSpec::Tuple(fields) => {
            for (i, field) in fields.iter().enumerate() {
                collect(&i.to_string(), field, &mut arrays)?;
            }
        }
        other => collect("0", other, &mut arrays)?,
    }
    Ok(arrays)
}

fn collect(name: &str, value: &ValueSpec, arrays: &mut Vec<(String, TensorData)>) -> Result<(), String> {
    if let ValueSpec::Tuple(fields) = value {
        let mut fields = fields.iter().enumerate();
        return fields.try_for_each(|(i, field)| with_stack(|| collect(&format!("{name}.{i}"), field, arrays)));
    }
    let data = array_of(value).ok_or_else(|| format!("`{name}` of the result is no array: {value}"))?;
    arrays.push((name.to_string(), data));
    Ok(())
}

/// The array form of a value.
fn array_of(value: &ValueSpec) -> Option<TensorData> {
    let bytes = |dtype, shape: &[u64], bytes| TensorData::new(dtype, shape, bytes).ok();
    match value {
        ValueSpec::Tensor(data) => Some(data.clone()),
        ValueSpec::Shape(sizes) => {
            let bytes_of: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
            bytes(DataType::INT64, &[sizes.len() as u64], bytes_of)
        }
        ValueSpec::Int(i) => bytes(DataType::INT64, &[], i.to_le_bytes().to_vec()),
        ValueSpec::Bool(truth) => bytes(DataType::BOOL, &[], vec![u8::from(*truth)]),
        ValueSpec::Float(x) => bytes(DataType::FLOAT64, &[], x.get().to_le_bytes().to_vec()),
        ValueSpec::Tuple(_)
        | ValueSpec::PackedFunc(_)
        | ValueSpec::Closure
        | ValueSpec::PrimFunc
        | ValueSpec::Str(_)
        | ValueSpec::DataType(_)
        | ValueSpec::Object
        | ValueSpec::Arg(_) => None,
    }
}

/// Arguments in a form for `--args` and `--arg`.
pub struct ReplayArguments<'v> {
    /// The arrays, by the names of the parameters.
    pub arrays: Vec<(String, TensorData)>,
    /// The arguments that cannot be arrays, in order.
    pub rest: Vec<&'v ValueSpec>,
}

/// The arguments of a function, as arrays by parameter name as far as possible.
pub fn by_parameters<'v>(func: Option<&Function>, values: &'v [ValueSpec]) -> ReplayArguments<'v> {
    let mut kept = ReplayArguments { arrays: Vec::new(), rest: Vec::new() };
    let params = func.map(|func| func.params.as_slice()).unwrap_or_default();
    let mut seen: FxHashMap<&str, usize> = FxHashMap::default();
    params.iter().for_each(|param| *seen.entry(&param.var.name).or_default() += 1);
    for (i, value) in values.iter().enumerate() {
        let param = params.get(i).filter(|param| {
            let name = &*param.var.name;
            !name.is_empty() && !name.contains('.') && seen.get(name) == Some(&1)
        });
        match param.filter(|param| is_given_back(value, param.annotation.as_ref())) {
            // A value has this form only if all its parts are arrays.
            Some(param) if collect(&param.var.name, value, &mut kept.arrays).is_ok() => {}
            Some(_) | None => kept.rest.push(value),
        }
    }
    kept
}

/// Whether the array form of a value is read as the same value if this is expected.
fn is_given_back(value: &ValueSpec, annotation: Option<&StructInfo>) -> bool {
    match value {
        ValueSpec::Tuple(fields) => {
            let mut fields = fields.iter().enumerate();
            fields.len() > 0 && fields.all(|(i, field)| with_stack(|| is_given_back(field, field_of(annotation, i))))
        }
        leaf => array_of(leaf).is_some_and(|data| is_written(data.dtype) && value_of(data, annotation) == *leaf),
    }
}
