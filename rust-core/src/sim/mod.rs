//! The simulator behind the `slaq` command: the same engine as in Spark, driven by recorded curves instead of a JVM.
//!
//! [`recorded`] curves and a seed give a [`workload`]; the [`world`] plays it under a [`discipline`], which is one of
//! Spark's own orders or a [`planner`] around the engine; its [`trace`] gives the [`metrics`]. An [`experiment`] does so
//! for many seeds and [`contender`]s. The subcommands are [`simulate`] (with [`grid`] and [`svg`]), [`evaluate`] for
//! `slaq forecast`, [`seconds`] for `slaq speed`, and [`plan_bench`].
//!
//! # In the paper's setting
//!
//! Changes against stock fair sharing, means over 20 seeds of `slaq simulate --seeds 20 --task-seconds 0.127` (640 cores, 160
//! runs, 15 s between arrivals); what other settings gave is in the [crate's documentation](crate). The paper states −45 %,
//! −30 % and −73 %.
//!
//! | setting | time to 90 % | to 95 % | mean normalised loss | loss area | completion | top quarter |
//! |---|---|---|---|---|---|---|
//! | the defaults | −66 % | −59 % | −70 % | −71 % | +11 % | 51 % |
//! | weight ∝ progress | −39 % | −38 % | −64 % | −56 % | +30 % | 48 % |
//! | SLAQ 2017 | −18 % | −18 % | −42 % | −32 % | +19 % | 39 % |
//! | oracle | −75 % | −70 % | −72 % | −74 % | +8 % | 54 % |
//!
//! There every curve recurs three times. Of 54 runs of which no two follow the same curve (`--runs 54 --fresh`):
//!
//! | setting | time to 90 % | to 95 % | mean normalised loss | loss area | completion | top quarter |
//! |---|---|---|---|---|---|---|
//! | the defaults | −44 % | −38 % | −43 % | −51 % | +10 % | 47 % |
//! | weight ∝ progress | −27 % | −27 % | −41 % | −42 % | +25 % | 46 % |
//! | oracle | −53 % | −50 % | −43 % | −54 % | +11 % | 50 % |

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
pub mod seconds;
pub mod simulate;
pub mod svg;
pub mod table;
pub mod trace;
pub mod workload;
pub mod world;
