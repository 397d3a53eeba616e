package org.apache.spark.slaq.executors

import org.apache.spark.ExecutorAllocationClient
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.ExecutorDecommissionInfo

/**
 * Retires executors above the target. It looks at what is, not at what changed: executors that were asked for long ago
 * and come late are surplus like any other.
 *
 * Executors are decommissioned: they take no more tasks, finish those that they have, hand cached blocks and shuffle
 * output to the others, and end. A plain kill can fail a job whose shuffle output is lost.
 *
 * @param decommission false where the user forbade it: then only executors that hold nothing are retired
 */
private[slaq] final class Reconciler(
    shim: SchedulerBackendShim,
    backend: ExecutorAllocationClient,
    holdings: Holdings,
    caching: Caching,
    decommission: Boolean)
    extends Logging {

  private var since = Option.empty[Long]

  /** One look; to be called a few times a second. `pausable`: even the last one may go. */
  def step(pausable: => Boolean): Unit = for (most <- shim.most) {
    val surplus = holdings.active().size - math.max(most, 1)
    if (surplus > 0) {
      since = since.orElse(Some(System.nanoTime()))
      val victims = Reconciler.victims(holdings.executors(), surplus)
      if (mayInterrupt) retire(victims)
    } else {
      since = None
      if (most == 0 && surplus == 0 && pausable) retire(holdings.executors())
    }
  }

  /**
   * A task that caches a block fails if its executor was decommissioned meanwhile, which counts against the job; and an
   * idle executor may get such a task in the same instant. So nobody retires while caching is under way; not for ever,
   * since what lacks memory is never whole.
   */
  private def mayInterrupt: Boolean = since.forall(System.nanoTime() - _ > Reconciler.PatienceNanos) || !caching.underWay

  private def retire(victims: Seq[Executor]): Unit = if (victims.nonEmpty) {
    if (decommission) {
      val gone = backend.decommissionExecutors(victims.map(_.id -> ExecutorDecommissionInfo("fewer executors are planned")).toArray, false, false)
      logInfo(s"Executors ${gone.mkString(", ")} retire with ${victims.map(_.cached).sum} cached blocks")
    } else if (!holdings.shuffled()) {
      val bare = victims.filter(e => e.cached == 0 && !e.busy).map(_.id)
      if (bare.nonEmpty) backend.killExecutors(bare, false, false, false)
    }
  }
}

private[slaq] object Reconciler {
  private val PatienceNanos = 10L * 1000 * 1000 * 1000

  /** Those whose loss costs least: fewest cached blocks, then idle, then youngest. */
  def victims(executors: Seq[Executor], surplus: Int): Seq[Executor] =
    executors.sortBy(e => (e.cached, e.busy, e.age)).take(math.max(0, math.min(surplus, executors.size - 1)))
}
