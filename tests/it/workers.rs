//! Programs that several workers run together. The expected results of the clauses on collectives were computed by
//! hand.

use relax_spec::grammar::{DataType, IrModule, TensorData};
use relax_spec::{RunAnswer, ValueSpec, parse, run_together};

fn module(signature: &str, body: &str) -> IrModule {
    let text = format!(
        "@I.ir_module
class Module:
    @R.function
    def main({signature}) -> R.Object:
        {body}
"
    );
    parse(&text).expect("a program")
}

fn floats(shape: &[u64], values: &[f64]) -> ValueSpec {
    ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, shape, values).expect("floats"))
}

fn ints(shape: &[u64], values: &[f64]) -> ValueSpec {
    ValueSpec::Tensor(TensorData::from_values(DataType::INT32, shape, values).expect("integers"))
}

/// The result of each worker.
fn results(module: &IrModule, args: &[ValueSpec]) -> Vec<RunAnswer> {
    let own: Vec<Vec<ValueSpec>> = args.iter().map(|arg| vec![arg.clone()]).collect();
    run_together(module, "main", &own).into_iter().map(|answer| answer.expect("an answer")).collect()
}

fn returned(value: ValueSpec) -> RunAnswer {
    RunAnswer::Returns(value, Vec::new())
}

#[test]
fn everyone_gets_what_all_together_make() {
    let given = [floats(&[2], &[1.0, -2.0]), floats(&[2], &[3.0, 5.0]), floats(&[2], &[5.0, 0.0])];
    let expected =
        [("sum", [9.0, 3.0]), ("prod", [15.0, -0.0]), ("min", [1.0, -2.0]), ("max", [5.0, 5.0]), ("avg", [3.0, 1.0])];
    for (kind, values) in expected {
        let module = module(
            "x: R.Tensor((2,), 'float32')",
            &format!("y = R.ccl.allreduce(x, op_type='{kind}')\n        return y"),
        );
        assert_eq!(results(&module, &given), vec![returned(floats(&[2], &values)); 3], "{kind}");
    }
}

#[test]
fn a_mean_of_integers_is_truncated() {
    let module = module("x: R.Tensor((2,), 'int32')", "y = R.ccl.allreduce(x, op_type='avg')\n        return y");
    let given = [ints(&[2], &[1.0, -4.0]), ints(&[2], &[4.0, -1.0])];
    assert_eq!(results(&module, &given), vec![returned(ints(&[2], &[2.0, -2.0])); 2]);
}

#[test]
fn tensors_are_gathered_in_the_order_of_the_workers() {
    let module = module("x: R.Tensor((1, 2), 'float32')", "y = R.ccl.allgather(x, num_workers=3)\n        return y");
    let given = [floats(&[1, 2], &[1.0, 2.0]), floats(&[1, 2], &[3.0, 4.0]), floats(&[1, 2], &[5.0, 6.0])];
    let all = floats(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(results(&module, &given), vec![returned(all); 3]);
}

#[test]
fn worker_0_tells_the_others() {
    let module = module("x: R.Tensor((2,), 'float32')", "y = R.ccl.broadcast_from_worker0(x)\n        return y");
    let given = [floats(&[2], &[1.0, 2.0]), floats(&[2], &[3.0, 4.0])];
    assert_eq!(results(&module, &given), vec![returned(floats(&[2], &[1.0, 2.0])); 2]);
}

#[test]
fn each_worker_gets_its_part_of_what_worker_0_has() {
    let body = "y = R.ccl.scatter_from_worker0(x, num_workers=2, axis=1)\n        return y";
    let module = module("x: R.Tensor((2, 4), 'float32')", body);
    let given = [
        floats(&[2, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
        floats(&[2, 4], &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ];
    let parts = [floats(&[2, 2], &[1.0, 2.0, 5.0, 6.0]), floats(&[2, 2], &[3.0, 4.0, 7.0, 8.0])];
    assert_eq!(results(&module, &given), parts.map(returned).to_vec());
}

#[test]
fn each_worker_keeps_its_part_of_a_replica() {
    let body = "y = R.dist.redistribute_replica_to_shard(x, num_workers=2, axis=0)\n        return y";
    let module = module("x: R.Tensor((4,), 'float32')", body);
    let replica = floats(&[4], &[1.0, 2.0, 3.0, 4.0]);
    let parts = [floats(&[2], &[1.0, 2.0]), floats(&[2], &[3.0, 4.0])];
    assert_eq!(results(&module, &[replica.clone(), replica]), parts.map(returned).to_vec());
}

/// Several collectives in sequence. Each worker does its own computations in between.
#[test]
fn workers_meet_as_often_as_they_like() {
    let body = "y = R.ccl.allreduce(x, op_type='sum')
        z = R.add(y, x)
        w = R.ccl.allreduce(z, op_type='max')
        return w";
    let module = module("x: R.Tensor((1,), 'float32')", body);
    let given: Vec<ValueSpec> = (0..5).map(|worker| floats(&[1], &[f64::from(worker)])).collect();
    // The sum is 10; the maximum of 10 + worker is 14.
    assert_eq!(results(&module, &given), vec![returned(floats(&[1], &[14.0])); 5]);
}

/// If a worker fails, the outcome of the waiting ones is unspecified, but no run hangs.
#[test]
fn nobody_waits_for_a_worker_that_has_ended() {
    let body = "y = R.ccl.allreduce(x, op_type='sum')\n        return y";
    let module = module("x: R.Tensor((2,), 'float32')", body);
    let answers = results(&module, &[floats(&[2], &[1.0, 2.0]), floats(&[3], &[1.0, 2.0, 3.0])]);
    assert_eq!(answers.first(), Some(&RunAnswer::Unspecified));
    assert!(matches!(answers.get(1), Some(RunAnswer::Fails(..))), "{answers:?}");
}

/// A collective of a different number of workers, or with unrelated tensors, is unspecified.
#[test]
fn collectives_that_do_not_meet_are_left_open() {
    let gathered = module("x: R.Tensor((2,), 'float32')", "y = R.ccl.allgather(x, num_workers=3)\n        return y");
    let given = [floats(&[2], &[1.0, 2.0]), floats(&[2], &[1.0, 2.0])];
    assert_eq!(results(&gathered, &given), vec![RunAnswer::Unspecified; 2]);
    let of_any = module("x: R.Tensor(ndim=1, dtype='float32')", "y = R.ccl.allreduce(x)\n        return y");
    let given = [floats(&[2], &[1.0, 2.0]), floats(&[1], &[1.0])];
    assert_eq!(results(&of_any, &given), vec![RunAnswer::Unspecified; 2]);
}
