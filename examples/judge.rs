//! Asks one judgement with its derivation: `cargo run --example judge`.

use relax_spec::grammar::{DataType, PrimExpr, StructInfo};
use relax_spec::judge::Cx;
use relax_spec::struct_info::check_compatibility;

fn main() {
    let found = StructInfo::tensor([PrimExpr::var("n"), 4.into()], DataType::FLOAT32);
    let demanded = StructInfo::tensor([3.into(), 4.into()], DataType::FLOAT32);

    let mut cx = Cx::new().with_trace();
    let answer = check_compatibility(&mut cx, &found, &demanded);
    println!("{found} for {demanded}: {answer}");
    for derivation in cx.take_derivations() {
        print!("{derivation}");
    }
}
