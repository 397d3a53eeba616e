//! Loss forecasts and core allocation for quality-driven scheduling of iterative training.
#![deny(unsafe_code)]

pub mod allocate;
pub mod arbiter;
pub mod baseline;
pub mod config;
pub mod curve;
pub mod engine;
pub mod error;
pub mod fit;
pub mod forecast;
pub mod gain;
pub mod history;
mod jni;
mod jvmti;
pub mod method;
pub mod plan;
pub mod policy;
pub mod prior;
mod run;
pub mod sim;
pub mod spec;
pub mod speed;

pub use config::Config;
pub use engine::Engine;
pub use error::{Error, Result};
pub use plan::{Plan, Reason, Share};
pub use policy::Policy;
pub use spec::RunSpec;
pub use speed::Stage;
