//! Other spellings of a program, for the paths that need them.

use serde_json::Value;

use crate::questions::function_of;
use crate::shrink::{fixed, remade, sizes_on};
use ask::implementation::Implementation;
use relax_spec::book::Edition;
use relax_spec::check::{check_program, in_normal_form};
use relax_spec::grammar::visit::{Visitor, walk_call, walk_module};
use relax_spec::grammar::{AttrValue, Call, IrModule, Name, VDevice};
use relax_spec::judge::{Cx, with_stack};
use relax_spec::question::ProgramInput;
use relax_spec::syntax::tvmscript::{Dialect, print_module};
use relax_spec::value::ValueSpec;

/// How a sequence is printed that is an operand.
const SEQUENCE: &str = "R.SeqExpr()";
/// What is printed before the condition of an `If` whose branches are not sequences, within a line.
const CHOICE: &str = " if ";
/// How the name of a packed function is printed that is not called directly.
const BOUND_NAME: &str = "R.ExternFunc(";
/// The attribute that names a device.
const DEVICE: &str = "dst_vdevice";

/// The program as text, in a notation that implementations read; as a tree if no such notation exists.
pub(super) fn as_text(edition: Edition, module: &IrModule, dialect: Dialect) -> ProgramInput {
    let tree = module;
    let module = without_ranks(&with_devices(module));
    let mut text = print_module(&module, dialect);
    let is_choice = |line: &str| !line.trim_start().starts_with("if ") && line.contains(CHOICE);
    if text.contains(SEQUENCE) || text.lines().any(is_choice) {
        // Implementations read no notation for a sequence as an operand, or for an `If` without blocks.
        text = print_module(&in_normal_form(&mut Cx::new().with_edition(edition), &module).module, dialect);
    }
    // Nor do they read the name of a packed function that is bound to a variable.
    if text.contains(BOUND_NAME) { ProgramInput::Module(tree.clone()) } else { ProgramInput::Script(text) }
}

/// The module at the sizes of the first input, and the inputs up to the first one of other sizes. If the text of the
/// specification rejects the program at these sizes, then the module itself, as no implementation must accept it.
pub(super) fn at_sizes(
    edition: Edition,
    module: &IrModule,
    entry: &Name,
    inputs: &[Vec<ValueSpec>],
) -> (IrModule, Vec<Vec<ValueSpec>>) {
    let params = function_of(module, entry).map(|function| function.params.as_slice()).unwrap_or_default();
    let sizes = inputs.first().map(|input| sizes_on(params, input)).unwrap_or_default();
    let at_them = fixed(module, &sizes);
    if sizes.is_empty() || !check_program(&mut Cx::new().with_edition(edition), &at_them).accepts() {
        return (module.clone(), inputs.to_vec());
    }
    let fits = |input: &&Vec<ValueSpec>| sizes_on(params, input) == sizes;
    (at_them, inputs.iter().take_while(fits).cloned().collect())
}

/// The module with a list of the devices that its calls name: implementations need it to find them in a text.
fn with_devices(module: &IrModule) -> IrModule {
    struct Devices(Vec<VDevice>);
    impl Visitor for Devices {
        fn visit_call(&mut self, call: &Call) {
            if let Some(AttrValue::Str(name)) = call.attrs.get(DEVICE) {
                let device = VDevice::named(name, &[]);
                if !self.0.contains(&device) {
                    self.0.push(device);
                }
            }
            walk_call(self, call);
        }
    }
    let mut devices = Devices(Vec::new());
    walk_module(&mut devices, module);
    let mut listing = module.clone();
    if !devices.0.is_empty() && module.vdevices().is_empty() {
        let list = devices.0.iter().map(VDevice::to_attr).collect();
        listing.global_infos.insert("vdevice".into(), AttrValue::List(list));
    }
    listing
}

/// The module without ranks of tensors whose shape is a variable, which determines the rank: no implementation reads
/// both.
fn without_ranks(module: &IrModule) -> IrModule {
    fn leave_out(data: &mut Value) -> bool {
        with_stack(|| match data {
            Value::Array(items) => items.iter_mut().fold(false, |found, item| leave_out(item) | found),
            Value::Object(fields) => {
                let is_var = fields.get("shape").is_some_and(|shape| shape.is_string() || shape.is_object());
                let said = fields.get_mut("ndim").filter(|rank| is_var && rank.as_i64().is_some_and(|rank| rank >= 0));
                let left_out = said.map(|rank| *rank = UNKNOWN.into()).is_some();
                fields.values_mut().fold(left_out, |found, field| leave_out(field) | found)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        })
    }
    remade(module, leave_out)
}

/// How an unknown rank is written.
const UNKNOWN: i64 = -1;

/// Whether the implementation has a notation for the value of a boxed number in structural information; later releases
/// of TVM have none.
pub(super) fn says_values(implementation: &dyn Implementation) -> bool {
    implementation.identity().name != "apache-tvm"
}

/// The dialect in which an implementation spells programs.
pub(super) fn dialect_of(implementation: &dyn Implementation) -> Dialect {
    let identity = implementation.identity();
    let old = identity.version.starts_with("0.25");
    if identity.name == "apache-tvm" && !old { Dialect::Tvm027 } else { Dialect::Tvm025 }
}
