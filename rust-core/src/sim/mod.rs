//! The simulator behind the `slaq` command: the same engine as in Spark, driven by recorded curves instead of a JVM.
//!
//! [`recorded`] curves and a seed give a [`workload`]; the [`world`] plays it under a [`discipline`], which is one of
//! Spark's own orders or a [`planner`] around the engine; its [`trace`] gives the [`metrics`]. An [`experiment`] does so
//! for many seeds and [`contender`]s. The subcommands are [`simulate`] (with [`grid`] and [`svg`]), [`evaluate`] for
//! `slaq forecast`, and [`plan_bench`].
//!
//! # Choosing defaults
//!
//! Changes against stock fair on the project's curves in the paper's setting (`slaq simulate --seeds 3`, tasks of 0.15 s):
//!
//! | alternative | time to 90 % | to 95 % | mean normalised loss | loss area | completion |
//! |---|---|---|---|---|---|
//! | `end` 0.1 | −51 % | −51 % | −65 % | −68 % | −18 % |
//! | `end` 0.02 | −51 % | −53 % | −68 % | −69 % | −13 % |
//! | `end` 0.01 | −51 % | −54 % | −70 % | −69 % | −11 % |
//! | `end` 0.003 | −53 % | −55 % | −71 % | −70 % | −7 % |
//! | weight ∝ progress | −55 % | −56 % | −75 % | −71 % | +7 % |
//! | SLAQ 2017 | −44 % | −45 % | −64 % | −57 % | +14 % |
//! | oracle, `end` 0.1 | −68 % | −69 % | −67 % | −72 % | −26 % |
//! | oracle, `end` 0.01 | −72 % | −72 % | −73 % | −73 % | −15 % |
//! | oracle, `end` 0 | −73 % | −73 % | −85 % | −74 % | +51 % |
//!
//! And with two seeds, `end` 0.1: fairness 0, 0.25, 0.5 give −41, −43, −41 % to 90 % and a worst slow-down of 2.0, 1.6, 1.5;
//! epoch 3 s −40 %, floor 8 −43 %; `goal` 0, 0.3, 2 give −39, −41, −41 %; unused cores lent after 0.1 s instead of at once
//! +13 %, after 0.5 s +40 %. `end` 0 gives −57 % and a mean normalised loss of −80 %, but +31 % completion.

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
