//! The devices that were asked for, read from `--gpu` and the flags beside it.

use super::Request;
use crate::cluster::gpu::Gpu;
use crate::commands::submit::args::Args;
use crate::print::error::{Exit, Problem, number};

impl Request {
    pub(super) fn read_gpu(&mut self, args: &Args, default: Option<String>) -> Result<(), Problem> {
        if let (Some(gpu), Some(memory)) = (&args.gpu, &args.gpu_memory) {
            let what = "--gpu and --gpu-memory both set the GPU size; use one";
            return Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
                .fix(format!("--gpu-memory {memory}   or   --gpu {gpu}")));
        }
        let mig = args.mig.as_ref().map(|profile| format!("mig:{profile}"));
        let typed = match (&args.gpu_memory, mig.or(args.gpu.clone()).or(default)) {
            (Some(memory), _) => Some((None, Gpu::parse_memory("--gpu-memory", memory)?)),
            (None, Some(gpu)) => Some(Gpu::parse_typed(&gpu)?),
            (None, None) => None,
        };
        let (model, gpu) = typed.map_or((None, None), |(model, gpu)| (model, Some(gpu)));
        (self.gpu, self.gpu_model) = (gpu, model);
        if let Some(model) = &args.gpu_type {
            crate::cluster::gpu::check_model(&format!("--gpu-type {model}"), model)?;
            if self.gpu_model.as_ref().is_some_and(|other| other != model) {
                let what = "--gpu and --gpu-type name two models of GPU";
                return Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
                    .fix(format!("--gpu-type {model} and a number: --gpu 4")));
            }
            self.gpu_model = Some(model.clone());
        }
        Ok(())
    }

    pub(super) fn check_share_container(&self, of_file: bool) -> Result<(), Problem> {
        let Some(container) = &self.share_container else { return Ok(()) };
        let flag = format!("--gpu-fraction-container {container}");
        match &self.gpu {
            Some(gpu) if gpu.is_share() => Ok(()),
            Some(gpu) => {
                let what = format!("{flag} is about a share of a GPU, and --gpu {gpu} is none");
                Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
                    .fix("leave it out   or   --gpu 0.5"))
            }
            // The manifest may ask for a share.
            None if of_file => Ok(()),
            None => {
                let what = format!("{flag} is about a share of a GPU, and none is asked for");
                Err(Problem::new(number::MISSING, Exit::Usage, what).fix("--gpu 0.5"))
            }
        }
    }
}
