//! The runs of an application behind one lock: start, report, finish, plan, explain.

use crate::allocate::{Limits, Utility, allocate, spread};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::gain::{Outlook, Wants};
use crate::plan::{Plan, Reason, Share};
use crate::policy::{self, Policy};
use crate::prior::Priors;
use crate::run::Run;
use crate::spec::RunSpec;
use crate::speed::Stage;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Weight of the newest iteration in what an unknown run's iteration is taken to cost.
const NEWEST: f64 = 0.05;
/// Weight of the newest run in how long a run prepares.
const NEWEST_LEAD: f64 = 0.2;

/// Plans the cores of the runs of one application. All methods may be called from any thread.
pub struct Engine {
    config: Config,
    recorded: HashMap<String, Arc<[f64]>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    runs: BTreeMap<i64, Run>,
    priors: Priors,
    plan: Plan,
    cores: u32,
    /// Core-seconds of a typical iteration, for runs that nothing is known of; 0 before the first iteration of any run.
    typical_work: f64,
    /// Iterations' worth of work that a typical run does before its first loss; 0 = not known.
    typical_lead: f64,
}

impl State {
    /// What an iteration of an unknown run is taken to cost, core-seconds: as those of late or, before there were any, as
    /// what the active runs show of theirs.
    fn usual_work(&self) -> f64 {
        if self.typical_work > 0.0 {
            return self.typical_work;
        }
        let shown: Vec<f64> = self.runs.values().filter_map(|r| r.speed.work()).collect();
        if shown.is_empty() { 1.0 } else { shown.iter().sum::<f64>() / shown.len() as f64 }
    }
}

impl Engine {
    /// An engine without runs. Files named by the configuration are read now; one that cannot be read is logged and done without.
    pub fn new(config: Config) -> Engine {
        let priors = config.priors_path.as_deref().map_or_else(Priors::default, |path| {
            Priors::load(path).unwrap_or_else(|e| {
                log::warn!("starting without typical curves: {e}");
                Priors::default()
            })
        });
        let recorded = config.oracle_path.as_deref().map_or_else(HashMap::new, |path| {
            policy::read_recorded(path).unwrap_or_else(|e| {
                log::warn!("the oracle knows nothing: {e}");
                HashMap::new()
            })
        });
        Engine { config, recorded, state: Mutex::new(State { priors, ..State::default() }) }
    }

    /// Starts a run; `now` in seconds of a monotonic clock of any origin.
    ///
    /// # Errors
    /// [`Error::Spec`] for a bad description, [`Error::AlreadyStarted`] if a run of this id is active.
    pub fn start(&self, spec: RunSpec, now: f64) -> Result<()> {
        spec.check()?;
        let recorded = spec
            .name
            .as_ref()
            .and_then(|name| self.recorded.get(name))
            .map(|losses| if spec.maximise { losses.iter().map(|l| -l).collect() } else { losses.clone() });
        let mut state = self.state.lock();
        if state.runs.contains_key(&spec.id) {
            return Err(Error::AlreadyStarted(spec.id));
        }
        let mut run = Run::new(spec, recorded, now);
        self.revalue(&mut run, &state.priors, state.typical_lead);
        state.runs.insert(run.spec.id, run);
        Ok(())
    }

    /// Takes in the loss after an iteration and the stages finished since the last report, and refits at once.
    /// Losses that are not finite and iterations that do not rise are counted and otherwise ignored.
    ///
    /// # Errors
    /// [`Error::UnknownRun`].
    pub fn report(&self, run: i64, iteration: u32, loss: f64, now: f64, stages: &[Stage]) -> Result<()> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let active = state.runs.get_mut(&run).ok_or(Error::UnknownRun(run))?;
        active.report(iteration, loss, now, stages);
        if let Some(lead) = active.lead() {
            learn(&mut state.typical_lead, lead, NEWEST_LEAD);
        }
        self.revalue(active, &state.priors, state.typical_lead);
        if let Some(work) = active.speed.work().filter(|w| *w > 0.0 && active.points() > 1) {
            learn(&mut state.typical_work, work, NEWEST);
        }
        Ok(())
    }

    /// Takes in stages that finished without a loss: before the first iteration, or of a run that reports none.
    ///
    /// # Errors
    /// [`Error::UnknownRun`].
    pub fn observe(&self, run: i64, _now: f64, stages: &[Stage]) -> Result<()> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let active = state.runs.get_mut(&run).ok_or(Error::UnknownRun(run))?;
        active.observe(stages);
        if active.points() == 0 {
            self.revalue(active, &state.priors, state.typical_lead);
        }
        Ok(())
    }

    /// Ends a run; its course teaches the typical curve of its algorithm.
    ///
    /// # Errors
    /// [`Error::UnknownRun`]; [`Error::File`] if the curves could not be saved (the run has ended all the same).
    pub fn finish(&self, run: i64, _now: f64) -> Result<()> {
        let priors = {
            let mut state = self.state.lock();
            let ended = state.runs.remove(&run).ok_or(Error::UnknownRun(run))?;
            state.priors.learn(&ended.spec.algorithm, ended.model.history());
            self.config.priors_path.as_ref().map(|_| state.priors.clone())
        };
        match (&self.config.priors_path, priors) {
            (Some(path), Some(priors)) => priors.save(path),
            _ => Ok(()),
        }
    }

    /// Plans `cores` among the active runs. `others` is the weight of the active work that is no training (0 = none): the
    /// share that fair scheduling would give it is left over.
    pub fn plan(&self, cores: u32, others: f64, now: f64) -> Plan {
        let mut state = self.state.lock();
        let state = &mut *state;
        let shares = self.shares(state, cores, others, now);
        for (share, run) in shares.iter().zip(state.runs.values_mut()) {
            if share.cores > 0 {
                run.served = now;
            }
        }
        state.cores = cores;
        state.plan = Plan { epoch: state.plan.epoch + 1, shares };
        state.plan.clone()
    }

    fn revalue(&self, run: &mut Run, priors: &Priors, lead: f64) {
        let wants = Wants { goal: self.config.goal, end: self.config.end };
        run.revalue(priors, lead, self.config.prior_height, wants, self.config.policy == Policy::Oracle);
    }

    fn shares(&self, state: &State, cores: u32, others: f64, now: f64) -> Vec<Share> {
        let runs: Vec<&Run> = state.runs.values().collect();
        if runs.is_empty() {
            return Vec::new();
        }
        let weights: f64 = runs.iter().map(|r| r.spec.weight).sum();
        let budget = for_training(cores, others, weights);
        let horizon = if self.config.horizon > 0.0 { self.config.horizon } else { self.config.epoch };
        let guess = state.usual_work();
        let outlooks: Vec<Outlook> = runs.iter().map(|r| r.outlook(guess)).collect();
        let value = ByGain { outlooks: &outlooks, horizon };
        let due = |r: &Run| f64::from(budget) * r.spec.weight / weights;
        let turns = runs.len() as u64 * u64::from(self.config.floor) >= u64::from(budget) && runs.len() > 1;
        let mut limits: Vec<Limits> = runs
            .iter()
            .map(|r| {
                let ceiling = r.width().max(1).min(most(r, budget));
                let due = due(r);
                let part = if !r.spec.has_loss { 1.0 } else { self.config.fairness };
                let floor = (due * part).floor() as u32;
                Limits { floor: floor.max(if turns { 0 } else { self.config.floor }).min(ceiling), ceiling }
            })
            .collect();
        let mut overdue = vec![false; runs.len()];
        if turns {
            let mut waiting: Vec<usize> =
                (0..runs.len()).filter(|&i| now - runs[i].served >= self.config.rotation_age).collect();
            waiting.sort_by(|&a, &b| runs[a].served.total_cmp(&runs[b].served).then(a.cmp(&b)));
            for i in waiting.into_iter().take(budget as usize) {
                limits[i].floor = limits[i].floor.max(1);
                overdue[i] = true;
            }
        }
        trim(&mut limits, budget, &overdue);
        let mut shares = match self.config.policy {
            Policy::Quality | Policy::Oracle => allocate(&limits, budget, &value),
            other => policy::shares(other, &runs, &limits, budget, self.config.epoch),
        };
        // What no stage seen so far can use: the next one may be wider.
        let spare = budget.saturating_sub(shares.iter().sum());
        let allowed: Vec<Limits> = runs.iter().map(|r| Limits { floor: 0, ceiling: most(r, budget) }).collect();
        spread(&allowed, &mut shares, spare);
        (0..runs.len())
            .map(|i| Share {
                run: runs[i].spec.id,
                cores: shares[i],
                reason: reason(self.config.policy, runs[i], limits[i], shares[i], turns, overdue[i]),
                gain: outlooks[i].gain(shares[i], horizon),
            })
            .collect()
    }

    /// What cores would be worth to each active run within `horizon` seconds, for a planner without its history: a JSON
    /// array of runs, each with the gain at the core counts that matter, from 1 to at most `cores`.
    pub fn outlook(&self, cores: u32, horizon: f64) -> Value {
        let state = self.state.lock();
        let guess = state.usual_work();
        let runs = state.runs.values().map(|run| {
            let outlook = run.outlook(guess);
            let value = ByGain { outlooks: &[outlook], horizon };
            let most = cores.min(run.spec.ceiling.unwrap_or(u32::MAX));
            let mut gain = Vec::new();
            let mut next = Some(1);
            while let Some(n) = next.filter(|n| *n <= most) {
                gain.push(json!([n, value.gain(0, n)]));
                // Close together where each core counts, in steps of a sixth beyond.
                next = value.next(0, n + n / 6);
            }
            let loss = run.model.history().last();
            json!({
                "run": run.spec.id, "name": run.spec.name, "algorithm": run.spec.algorithm, "iteration": loss.map(|l| l.0),
                "loss": loss.map(|(_, loss)| if run.spec.maximise { -loss } else { loss }),
                "predicted": run.spec.has_loss && run.points() > 0, "gain": if run.spec.has_loss { gain } else { Vec::new() },
            })
        });
        Value::Array(runs.collect())
    }

    /// The last plan as JSON: an object with epoch, cores and an array of runs.
    pub fn explain(&self) -> Value {
        let state = self.state.lock();
        let runs: Vec<Value> = state
            .plan
            .shares
            .iter()
            .filter_map(|share| {
                let run = state.runs.get(&share.run)?;
                let history = run.model.history();
                let loss = history.last().map(|(_, loss)| if run.spec.maximise { -loss } else { loss });
                let curve = run.model.curve().map(|c| format!("{:?}", c.shape));
                Some(json!({
                    "run": share.run, "name": run.spec.name, "algorithm": run.spec.algorithm,
                    "iteration": history.last().map(|(k, _)| k), "loss": loss, "normalisedLoss": run.normalised_loss(),
                    "curve": curve, "gain": share.gain, "cores": share.cores, "reason": share.reason.to_string(),
                }))
            })
            .collect();
        json!({"epoch": state.plan.epoch, "cores": state.cores, "policy": self.config.policy.to_string(), "runs": runs})
    }
}

/// Cores for training when other work of this weight has its fair share; at least one of each when there are two.
fn for_training(cores: u32, others: f64, weights: f64) -> u32 {
    if !(others > 0.0 && others.is_finite()) || cores < 2 {
        return cores;
    }
    let part = f64::from(cores) * others / (others + weights);
    cores - (part.round() as u32).clamp(1, cores - 1)
}

/// Moves a mean, 0 while there is none, towards a new value by the value's weight.
fn learn(mean: &mut f64, new: f64, weight: f64) {
    let part = if *mean > 0.0 { weight } else { 1.0 };
    *mean += part * (new - *mean);
}

/// The most cores that a run may get, whatever its stages can use.
fn most(run: &Run, budget: u32) -> u32 {
    run.spec.ceiling.unwrap_or(u32::MAX).min(budget.max(1))
}

/// Lowers floors, the least urgent first, until they fit into the budget.
fn trim(limits: &mut [Limits], budget: u32, overdue: &[bool]) {
    let mut excess = limits.iter().map(|l| u64::from(l.floor)).sum::<u64>().saturating_sub(u64::from(budget));
    for last in [false, true] {
        for (limit, _) in limits.iter_mut().rev().zip(overdue.iter().rev()).filter(|(_, o)| **o == last) {
            let cut = u64::from(limit.floor).min(excess);
            limit.floor -= cut as u32;
            excess -= cut;
        }
    }
}

fn reason(policy: Policy, run: &Run, limits: Limits, cores: u32, turns: bool, overdue: bool) -> Reason {
    match policy {
        _ if overdue && cores > 0 => Reason::Overdue,
        _ if cores == 0 => Reason::Waiting,
        Policy::Quality | Policy::Oracle => match () {
            () if !run.spec.has_loss => Reason::NoLoss,
            () if turns => Reason::Turn,
            () if cores >= limits.ceiling => Reason::Ceiling,
            () if run.points() == 0 => Reason::Starting,
            () if cores == limits.floor => Reason::Floor,
            () if run.young() => Reason::Prior,
            () => Reason::Gain,
        },
        _ => Reason::Policy,
    }
}

struct ByGain<'a> {
    outlooks: &'a [Outlook],
    horizon: f64,
}

impl Utility for ByGain<'_> {
    fn gain(&self, run: usize, cores: u32) -> f64 {
        self.outlooks[run].gain(cores, self.horizon)
    }

    fn next(&self, run: usize, cores: u32) -> Option<u32> {
        if cores == 0 || self.outlooks[run].speed.iterations() == 0 {
            return Some(cores + 1);
        }
        self.outlooks[run].speed.next_useful(cores)
    }
}
