//! Compiles a nest, and calls what was compiled: the unsafe code of the project.

use cranelift_codegen::ir::{AbiParam, InstBuilder, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use relax_spec::value::LoopMemory;

use super::classes::Classes;
use super::emit::Emitter;
use super::fold::emitted;
use super::proof::Proof;
use super::schedule::Schedule;

/// A nest as machine code.
pub struct NestCode<'n> {
    module: JITModule,
    address: *const u8,
    /// That what it accesses exists.
    proof: Proof<'n>,
    /// Of which memory it takes a copy.
    copied: Vec<bool>,
}

/// Makes code of a nest; `None` if it is not of a kind that this crate knows, or the processor is not.
pub fn compiled<'n>(
    proof: Proof<'n>,
    classes: &Classes,
    packed: &[Option<Vec<f32>>],
    schedule: &Schedule,
) -> Option<NestCode<'n>> {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed").ok()?;
    flags.set("is_pic", "false").ok()?;
    flags.set("use_colocated_libcalls", "false").ok()?;
    let isa = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
    let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
    let mut context = module.make_context();
    context.func.signature = module.make_signature();
    context.func.signature.params.push(AbiParam::new(types::I64));
    let mut scratch = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut context.func, &mut scratch);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let table = *builder.block_params(entry).first()?;
    let copied: Vec<bool> = packed.iter().map(Option::is_some).collect();
    let mut emitter = Emitter::new(proof.nest, classes, copied.clone(), builder);
    emitted(&mut emitter, schedule, table)?;
    let mut builder = emitter.builder;
    builder.ins().return_(&[]);
    builder.seal_all_blocks();
    builder.finalize(module.target_config());
    let function = module.declare_function("nest", Linkage::Local, &context.func.signature).ok()?;
    module.define_function(function, &mut context).ok()?;
    module.finalize_definitions().ok()?;
    let address = module.get_finalized_function(function);
    Some(NestCode { module, address, proof, copied })
}

impl NestCode<'_> {
    /// Runs the code on the memory that its proof is about, and on the copies that it was compiled for. Returns whether
    /// they are these.
    pub fn run(self, memory: &mut [LoopMemory<'_>], packed: &[Option<Vec<f32>>]) -> bool {
        let fits = self.proof.is_of(memory) && packed.iter().map(Option::is_some).eq(self.copied.iter().copied());
        let mut table: Vec<*mut u8> = Vec::with_capacity(memory.len());
        for (memory, copy) in memory.iter_mut().zip(packed) {
            table.push(match (copy, memory) {
                (Some(copy), LoopMemory::Floats(elements)) if copy.len() == elements.len() => {
                    copy.as_ptr().cast_mut().cast()
                }
                (Some(_), _) => return false,
                (None, LoopMemory::Ints(elements)) => elements.as_mut_ptr().cast(),
                (None, LoopMemory::Floats(elements)) => elements.as_mut_ptr().cast(),
            });
        }
        if !fits || table.len() != self.copied.len() {
            return false;
        }
        // SAFETY: `address` is that of a finished function of this signature, in memory that `module` keeps until it is
        // freed below. The function reads `table` at the numbers of memory, and at the addresses there the elements at
        // the positions of the nest. These are inside, and of this kind: the proof says so of memory of these lengths.
        // An element has 8 bytes, or 4 in a copy, which has as many. The function writes only where the nest stores:
        // to memory that is borrowed mutably, of which no copy is made (`Classes::packed`). It has no calls, and its
        // loops have as many rounds as those of the nest.
        unsafe {
            let nest: extern "C" fn(*const *mut u8) = std::mem::transmute(self.address);
            nest(table.as_ptr());
        }
        // SAFETY: nothing points into the code any more: its only address was used above, and `self` ends here.
        unsafe { self.module.free_memory() };
        true
    }
}
