//! The simulator behind the `slaq` command: the same engine as in Spark, driven by recorded curves instead of a JVM.
//!
//! [`recorded`] curves and a seed give a [`workload`]; the [`world`] plays it under a [`discipline`], which is one of
//! Spark's own orders or a [`planner`] around the engine; its [`trace`] gives the [`metrics`]. An [`experiment`] does so
//! for many seeds and [`contender`]s. The subcommands are [`simulate`] (with [`grid`] and [`svg`]), [`evaluate`] for
//! `slaq forecast`, and [`plan_bench`].

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
