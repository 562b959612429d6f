#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relax_spec_fuzz::print_parse(data));
