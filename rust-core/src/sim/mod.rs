//! The simulator behind the `slaq` command: the same engine as in Spark, driven by recorded curves instead of a JVM.
//!
//! [`recorded`] curves and a seed give a [`workload`]; the [`world`] plays it under a [`discipline`], which is one of
//! Spark's own orders or a [`planner`] around the engine; its [`trace`] gives the [`metrics`]. An [`experiment`] does so
//! for many seeds and [`contender`]s. The subcommands are [`simulate`] (with [`grid`] and [`svg`]), [`evaluate`] for
//! `slaq forecast`, and [`plan_bench`].
//!
//! # In the paper's setting
//!
//! Changes against stock fair sharing, seeds 1 to 4 of `slaq simulate --seeds 4 --task-seconds 0.127` (640 cores, 160 runs,
//! 15 s between arrivals); what other settings gave is in the [crate's documentation](crate).
//!
//! | setting | time to 90 % | to 95 % | mean normalised loss | loss area | completion | top quarter |
//! |---|---|---|---|---|---|---|
//! | the defaults | −66 % | −60 % | −58 % | −67 % | +9 % | 51 % |
//! | `horizon=0` (one epoch of 1 s) | −65 % | −59 % | −58 % | −66 % | +11 % | 51 % |
//! | weight ∝ progress | −42 % | −39 % | −53 % | −53 % | +26 % | 48 % |
//! | SLAQ 2017 | −22 % | −19 % | −33 % | −33 % | +17 % | 39 % |
//! | oracle | −70 % | −66 % | −59 % | −68 % | +5 % | 53 % |
//!
//! There every curve recurs three times. Of 54 runs of which no two follow the same curve (`--runs 54 --fresh`):
//!
//! | setting | time to 90 % | to 95 % | mean normalised loss | loss area | completion | top quarter |
//! |---|---|---|---|---|---|---|
//! | the defaults | −41 % | −39 % | −45 % | −49 % | +2 % | 46 % |
//! | weight ∝ progress | −32 % | −32 % | −43 % | −44 % | +10 % | 44 % |
//! | oracle | −50 % | −48 % | −46 % | −52 % | −1 % | 49 % |

pub mod args;
pub mod calibrate;
pub mod contender;
pub mod discipline;
pub mod evaluate;
pub mod experiment;
pub mod failure;
pub mod grid;
pub mod metrics;
pub mod plan_bench;
pub mod planner;
pub mod random;
pub mod recorded;
pub mod simulate;
pub mod svg;
pub mod table;
pub mod trace;
pub mod workload;
pub mod world;
