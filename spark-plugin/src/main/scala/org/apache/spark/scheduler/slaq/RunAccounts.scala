package org.apache.spark.scheduler.slaq

import java.util.concurrent.ConcurrentHashMap
import java.util.function.Consumer

/**
 * The accounts of the open runs and that of all other work, and how many unused cores may be lent.
 *
 * Shares are limits, so a run between two iterations would leave its cores idle. They are lent, and taken back, task by
 * task, as soon as their owner wants them again. Lending at once makes the owner wait for the borrowers' tasks, lending late
 * leaves cores idle: while borrowers come in the order in which they are furthest below their shares, both the simulator and
 * real runs did best without a delay.
 *
 * @param lendDelay nanoseconds for which cores must be unused before they are lent; None never lends
 */
private[spark] final class RunAccounts(lendDelay: Option[Long]) {
  private val opened = new ConcurrentHashMap[Long, RunAccount]
  @volatile private var unassigned = 0
  @volatile private var enforced = true

  /** Work of no run, of runs that only start other runs, and of runs in pools that the user named. */
  val others = new RunAccount(RunAccounts.Others)

  def get(run: Long): Option[RunAccount] = Option(opened.get(run))

  /** Opens the account of a run. The share holds until the first plan; None leaves the run without limits. */
  def open(run: Long, share: Option[Int]): RunAccount = {
    val account = new RunAccount(run)
    share.foreach(account.plan(_, enforced))
    opened.put(run, account)
    account
  }

  /** Closes the account of a run; tasks that it left behind start without limits from now on. */
  def close(run: Long): Unit = Option(opened.remove(run)).foreach(_.lift())

  /**
   * Sets the shares of a plan.
   *
   * @param cores all cores that exist
   * @param reserve cores kept for other work; None when the plan knew of none, and then such work is not limited until
   *                the next plan knows of it
   */
  def plan(shares: Map[Long, Int], reserve: Option[Int], cores: Int): Unit = {
    shares.foreach { case (run, share) => get(run).foreach(_.plan(share, enforced)) }
    others.plan(reserve.getOrElse(0), enforced && reserve.isDefined)
    unassigned = math.max(0, cores - shares.values.sum - reserve.getOrElse(0))
  }

  /** Takes all limits away, for good. */
  def lift(): Unit = {
    enforced = false
    each(_.lift())
  }

  /** Cores that may be lent at this moment, beyond those that are. */
  def lendable(now: Long): Int = lendDelay.fold(0) { delay =>
    var free = unassigned
    each { account =>
      if (account.idleNanos(now) >= delay) free += account.unused
      free -= account.borrowed
    }
    math.max(0, free)
  }

  /** Nanoseconds until more cores may be lent, if any will be unused then. */
  def untilLendable(now: Long): Option[Long] = lendDelay.flatMap { delay =>
    var soonest = Long.MaxValue
    each { account =>
      val idle = account.idleNanos(now)
      if (account.unused > 0 && idle < delay) soonest = math.min(soonest, delay - idle)
    }
    if (soonest == Long.MaxValue) None else Some(soonest)
  }

  private def each(use: Consumer[RunAccount]): Unit = {
    opened.values.forEach(use)
    use.accept(others)
  }
}

private[spark] object RunAccounts {

  /** Stands for the work of no run where a run's id is asked for. */
  val Others: Long = -1L
}
