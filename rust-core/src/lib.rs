//! Loss forecasts and core allocation for quality-driven scheduling of iterative training.
//!
//! Data flow: a host [starts](Engine::start) a run and [reports](Engine::report) its losses and finished stages.
//! [`history`] keeps what matters of them in bounded space, [`method`] turns it into [`curve`]s (by [`fit`] or in closed form),
//! [`forecast`] mixes the methods by how well they predicted so far and tabulates the expected falls, [`gain`] values
//! them in normalised loss with [`prior`]s for what is not known yet, and [`speed`] says how many iterations n cores make.
//! [`Engine::plan`] only looks these up: [`allocate`] hands out cores, [`policy`] holds the policies to compare with.
//!
//! # Defaults, and what else was tried
//!
//! `slaq simulate --curves tests/curves --cores 64 --runs 40 --active 8 --seeds 2`; change against stock fair sharing.
//! Mean times hang on a few heavy mixtures whose losses stall for fifty iterations and then fall.
//!
//! | setting | time to 90 % | to 95 % | loss area | completion |
//! |---|---|---|---|---|
//! | `end=0` (loss reduction only) | −40 % | −42 % | −60 % | +33 % |
//! | `end=0.02` | −30 % | −34 % | −57 % | +9 % |
//! | `end=0.05` | −30 % | −33 % | −56 % | +7 % |
//! | `end=0.1` | −31 % | −32 % | −56 % | +6 % |
//! | `end=0.1, goal=0.2` | −31 % | −32 % | −57 % | +5 % |
//! | `end=0.1, goal=1` | −30 % | −31 % | −54 % | +7 % |
//! | `end=0.1, prior.height=0.3` | −30 % | −31 % | −53 % | +5 % |
//! | `end=0.1, prior.height=2` | −31 % | −32 % | −57 % | +5 % |
//! | `end=0.1, horizon=3` | −32 % | −32 % | −57 % | +4 % |
//! | `end=0.1, fairness=0.2` | −32 % | −33 % | −56 % | +5 % |
//! | weight ∝ progress | −35 % | −37 % | −61 % | +25 % |
//! | least attained service | −16 % | −15 % | −46 % | +19 % |
//! | SLAQ 2017 | −1 % | −6 % | +1 % | +23 % |
//! | oracle, `end=0` | −62 % | −60 % | −63 % | +59 % |
//! | oracle, `end=0.1` | −57 % | −57 % | −63 % | −2 % |
//!
//! `end` buys completion time with time to 90 %: 0.01, the default, stays below +15 %. Normalising by the expected whole
//! reduction, not by the largest change as the paper does, is what lets steep starts and long tails compare.
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
pub mod simplex;
pub mod spec;
pub mod speed;

pub use config::Config;
pub use engine::Engine;
pub use error::{Error, Result};
pub use plan::{Plan, Reason, Share};
pub use policy::Policy;
pub use spec::RunSpec;
pub use speed::Stage;
