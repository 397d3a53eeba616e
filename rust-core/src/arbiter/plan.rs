//! Executors for every application, by predicted gain, within what tenants are promised. Pure: same input, same plan.
//!
//! The allocation is the one that shares cores among runs ([`allocate`]), asked three times: what a tenant's
//! applications get of its guarantee (floors), what they would get of its maximum (ceilings), and last all cores.
//! Because it is greedy on concave gains, the first two are prefixes of the third, so the bounds cost no optimality.

use super::demand::Demand;
use super::report::Report;
use super::tenants::Tenant;
use crate::allocate::{Limits, Utility, allocate};

/// An application and where it stands.
pub struct Claim<'a> {
    /// What it last said.
    pub report: &'a Report,
    /// What executors are worth to it.
    pub demand: &'a Demand,
    /// Index of its tenant in [`Cluster::tenants`].
    pub tenant: usize,
    /// Its target so far, executors.
    pub current: u32,
    /// Joined a moment ago: gets the minimum until it has said what it does.
    pub newcomer: bool,
    /// Has not trained yet, but joined so lately that it may any moment: others do not grow into its fair share, since they
    /// would have to give it back as soon as their executors have started.
    pub expected: bool,
    /// Grew a moment ago: keeps what it has, since an executor that leaves before it was of use only cost.
    pub fresh: bool,
    /// Part of a further executor's gain that counts, in [0, 1]: less than 1, because starting it takes time.
    pub growth: f64,
    /// When it got its first executor or last began to wait, seconds.
    pub since: f64,
}

/// What there is to share.
pub struct Cluster {
    /// Cores.
    pub cores: u32,
    /// Promises, indexed by [`Claim::tenant`].
    pub tenants: Vec<Tenant>,
    /// Part of the cores, in [0, 1], shared equally by weight.
    pub fairness: f64,
    /// Seconds that an application keeps its place when there are more applications than executors.
    pub turn: f64,
    /// The time, seconds.
    pub now: f64,
}

/// What an application gets, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Executors.
    pub target: u32,
    /// The reason.
    pub why: Why,
}

/// Why an application gets what it gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// Its executors are its own affair.
    Fixed,
    /// More applications than executors: this many wait before it.
    Queue(u32),
    /// It joined a moment ago.
    Newcomer,
    /// It neither trains nor has tasks.
    Idle,
    /// It is owed this by its tenant's guarantee.
    Guarantee,
    /// It is owed this: nobody can predict its gain, or a part is shared equally.
    Fair,
    /// It gains most: by its last executor, and what one more would bring.
    Gain {
        /// Predicted normalised loss reduction by the last executor.
        last: f64,
        /// The same by one more.
        next: f64,
    },
}

/// Targets for all claims, in their order. Their cores sum up to at most the cluster's, except for fixed ones.
pub fn plan(cluster: &Cluster, claims: &[Claim]) -> Vec<Decision> {
    let fixed: u64 = claims.iter().filter(|c| c.report.fixed).map(|c| cores(c, c.report.executors)).sum();
    let free = u64::from(cluster.cores).saturating_sub(fixed) as u32;
    let (seated, queue) = seats(cluster, claims, free);
    let mut table = Table::new(cluster, claims, seated, free);

    let fresh = table.goals(|c| if c.fresh { c.current } else { 0 });
    table.raise(&fresh);
    let owed = table.fair(cluster, free);
    table.raise(&owed);
    let fair = table.floors();
    table.guarantee(&cluster.tenants);
    let guaranteed = table.floors();
    table.cap(&cluster.tenants);
    table.fill(free);

    let mut decisions: Vec<Decision> = claims
        .iter()
        .map(|c| match c.report.fixed {
            true => Decision { target: c.report.executors, why: Why::Fixed },
            false => Decision { target: 0, why: Why::Queue(0) },
        })
        .collect();
    for (place, &index) in queue.iter().enumerate() {
        decisions[index].why = Why::Queue(place as u32);
    }
    for (place, &index) in table.index.iter().enumerate() {
        let claim = &claims[index];
        let target = table.limits[place].floor / claim.report.cores_per_executor;
        let why = match () {
            () if claim.newcomer => Why::Newcomer,
            () if !claim.demand.active(claim.report) => Why::Idle,
            () if guaranteed[place] > fair[place] && table.limits[place].floor <= guaranteed[place] => Why::Guarantee,
            () if claim.demand.gain(1) == 0.0 || owed[place] > 0 && table.limits[place].floor <= fair[place] => {
                Why::Fair
            }
            () => Why::Gain {
                last: claim.demand.gain(target) - claim.demand.gain(target.saturating_sub(1)),
                next: claim.demand.gain(target + 1) - claim.demand.gain(target),
            },
        };
        decisions[index] = Decision { target, why };
    }
    decisions
}

/// Who gets at least the minimum, and the others in the order in which they will.
///
/// While there is room, everybody is seated. Otherwise a seat is kept for a turn, and longer by whoever would lose data
/// with its last executor; then it goes to whoever waits longest. The idle come last.
fn seats(cluster: &Cluster, claims: &[Claim], mut free: u32) -> (Vec<usize>, Vec<usize>) {
    let rank = |c: &Claim| match () {
        () if c.current > 0 && !c.report.pausable => 0,
        () if c.current > 0 && c.demand.active(c.report) && cluster.now - c.since < cluster.turn => 1,
        () if c.demand.active(c.report) && c.current == 0 => 2,
        () if c.demand.active(c.report) => 3,
        () if c.current > 0 => 4,
        () => 5,
    };
    let mut order: Vec<usize> = (0..claims.len()).filter(|&i| !claims[i].report.fixed).collect();
    order.sort_by(|&a, &b| {
        rank(&claims[a]).cmp(&rank(&claims[b])).then(claims[a].since.total_cmp(&claims[b].since)).then(a.cmp(&b))
    });
    let mut room: Vec<u32> = cluster.tenants.iter().map(|t| t.maximum).collect();
    let (mut seated, queue): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&i| {
        let minimum = cores(&claims[i], claims[i].report.minimum);
        let fits = minimum <= u64::from(free.min(room[claims[i].tenant]));
        if fits {
            free -= minimum as u32;
            room[claims[i].tenant] -= minimum as u32;
        }
        fits
    });
    seated.sort_unstable();
    (seated, queue)
}

fn cores(claim: &Claim, executors: u32) -> u64 {
    u64::from(executors) * u64::from(claim.report.cores_per_executor)
}

/// The seated claims with their growing floors. All limits are cores, in whole executors.
struct Table<'a> {
    claims: Vec<&'a Claim<'a>>,
    /// Where each is in the caller's order.
    index: Vec<usize>,
    limits: Vec<Limits>,
    weights: Vec<f64>,
    /// Cores that no floor takes yet: all, and by tenant.
    left: u32,
    room: Vec<u32>,
}

impl Utility for Table<'_> {
    fn gain(&self, app: usize, cores: u32) -> f64 {
        let claim = self.claims[app];
        let executors = cores / claim.report.cores_per_executor;
        let kept = claim.demand.gain(executors.min(claim.current));
        self.weights[app] * (kept + claim.growth * (claim.demand.gain(executors) - kept))
    }

    fn next(&self, app: usize, cores: u32) -> Option<u32> {
        let per = self.claims[app].report.cores_per_executor;
        Some((cores / per + 1) * per).filter(|&next| next <= self.limits[app].ceiling)
    }
}

impl<'a> Table<'a> {
    fn new(cluster: &Cluster, claims: &'a [Claim<'a>], seated: Vec<usize>, free: u32) -> Table<'a> {
        let mut table = Table {
            claims: seated.iter().map(|&i| &claims[i]).collect(),
            index: seated,
            limits: Vec::new(),
            weights: Vec::new(),
            left: free,
            room: cluster.tenants.iter().map(|t| t.maximum).collect(),
        };
        for claim in &table.claims {
            let r = claim.report;
            let most = if claim.newcomer || !claim.demand.active(r) { r.minimum } else { claim.demand.useful };
            let limits = Limits {
                floor: r.minimum * r.cores_per_executor,
                ceiling: (cores(claim, most.max(r.minimum))).min(u64::from(u32::MAX)) as u32,
            };
            table.left -= limits.floor;
            table.room[claim.tenant] -= limits.floor;
            table.limits.push(limits);
            table.weights.push(r.weight * cluster.tenants[claim.tenant].weight);
        }
        table
    }

    fn floors(&self) -> Vec<u32> {
        self.limits.iter().map(|l| l.floor).collect()
    }

    fn goals(&self, executors: impl Fn(&Claim) -> u32) -> Vec<u32> {
        self.claims
            .iter()
            .zip(&self.limits)
            .map(|(c, l)| (cores(c, executors(c))).min(u64::from(l.ceiling)) as u32)
            .collect()
    }

    /// What each is owed of the cores by weight, as far as it can use it: all of its fair share when nobody can predict
    /// its gain, otherwise the part that is shared equally.
    fn fair(&self, cluster: &Cluster, free: u32) -> Vec<u32> {
        let active = |c: &Claim| c.demand.active(c.report);
        self.shares(free, active)
            .zip(&self.claims)
            .zip(&self.limits)
            .map(|((share, c), limits)| {
                let part = c.demand.unpredicted.max(cluster.fairness);
                if active(c) { ((share * part) as u32).min(limits.ceiling) } else { 0 }
            })
            .collect()
    }

    /// Everybody's part by weight of so many cores, if they are for those who count.
    fn shares(&self, cores: u32, counts: impl Fn(&Claim) -> bool) -> impl Iterator<Item = f64> + '_ {
        let total: f64 = self.claims.iter().zip(&self.weights).filter(|(c, _)| counts(c)).map(|(_, w)| w).sum();
        self.weights.iter().map(move |w| if total > 0.0 { f64::from(cores) * w / total } else { 0.0 })
    }

    /// Cores that nobody holds and that are left for those who are expected to train.
    fn left_for_expected(&self, free: u32) -> u32 {
        let wanted: u32 = self
            .shares(free, |c| c.expected || c.demand.active(c.report))
            .zip(self.claims.iter().zip(&self.limits))
            .filter(|(_, (c, _))| c.expected)
            .map(|(share, (c, limits))| {
                let per = c.report.cores_per_executor;
                (c.report.maximum.min(share as u32 / per) * per).saturating_sub(limits.floor)
            })
            .sum();
        let held: u32 = self.held().iter().zip(&self.limits).map(|(&held, limits)| held.max(limits.floor)).sum();
        wanted.min(free.saturating_sub(held))
    }

    /// Cores that those who can use them have already.
    fn held(&self) -> Vec<u32> {
        let uses = |c: &Claim| c.demand.active(c.report) && !c.newcomer;
        self.claims.iter().map(|c| if uses(c) { cores(c, c.current.min(c.report.maximum)) as u32 } else { 0 }).collect()
    }

    /// Raises the floors towards goals, the lowest-placed first in each round, an executor at a time.
    fn raise(&mut self, goals: &[u32]) {
        let mut open: Vec<usize> = (0..self.claims.len()).collect();
        while !open.is_empty() {
            open.retain(|&i| {
                let per = self.claims[i].report.cores_per_executor;
                let room = &mut self.room[self.claims[i].tenant];
                let fits = self.limits[i].floor + per <= goals[i] && per <= self.left.min(*room);
                if fits {
                    self.limits[i].floor += per;
                    self.left -= per;
                    *room -= per;
                }
                fits
            });
        }
    }

    /// Raises the floors of each tenant's applications to what its guarantee gives them.
    fn guarantee(&mut self, tenants: &[Tenant]) {
        for (tenant, promise) in tenants.iter().enumerate().filter(|(_, t)| t.guaranteed > 0) {
            let goals = self.share(tenant, promise.guaranteed, 0);
            self.raise(&goals);
        }
    }

    /// Lowers the ceilings of each tenant's applications to what its maximum gives them.
    fn cap(&mut self, tenants: &[Tenant]) {
        for (tenant, promise) in tenants.iter().enumerate() {
            let wanted: u64 = self.of(tenant).map(|i| u64::from(self.limits[i].ceiling)).sum();
            if wanted > u64::from(promise.maximum) {
                let shares = self.share(tenant, promise.maximum, u32::MAX);
                for (limits, share) in self.limits.iter_mut().zip(shares) {
                    limits.ceiling = limits.ceiling.min(share.max(limits.floor));
                }
            }
        }
    }

    fn of(&self, tenant: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.claims.len()).filter(move |&i| self.claims[i].tenant == tenant)
    }

    /// What a tenant's applications get of a budget of its own, `rest` for everybody else.
    fn share(&self, tenant: usize, budget: u32, rest: u32) -> Vec<u32> {
        let mine: Vec<usize> = self.of(tenant).collect();
        let limits: Vec<Limits> = mine.iter().map(|&i| self.limits[i]).collect();
        let mut goals = vec![rest; self.claims.len()];
        for (i, share) in mine.iter().zip(allocate(&limits, budget, &Part { table: self, of: &mine })) {
            goals[*i] = share;
        }
        goals
    }

    /// Gives out the rest: by gain, then to whoever has it already, then evenly to whom it can be of use.
    fn fill(&mut self, free: u32) {
        let kept = self.left_for_expected(free);
        self.left -= kept;
        let goals = allocate(&self.limits, free - kept, self);
        self.raise(&goals);
        let held = self.held();
        self.raise(&held);
        let ceilings: Vec<u32> = self.limits.iter().map(|l| l.ceiling).collect();
        self.raise(&ceilings);
    }
}

/// The applications of one tenant.
struct Part<'a> {
    table: &'a Table<'a>,
    of: &'a [usize],
}

impl Utility for Part<'_> {
    fn gain(&self, app: usize, cores: u32) -> f64 {
        self.table.gain(self.of[app], cores)
    }
    fn next(&self, app: usize, cores: u32) -> Option<u32> {
        self.table.next(self.of[app], cores)
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
