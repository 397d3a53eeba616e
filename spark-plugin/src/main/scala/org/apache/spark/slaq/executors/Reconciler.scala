package org.apache.spark.slaq.executors

import org.apache.spark.ExecutorAllocationClient
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.ExecutorDecommissionInfo

/**
 * Retires executors above the target. It looks at what is, not at what changed: executors that were asked for long ago
 * and come late are surplus like any other.
 *
 * Surplus executors first get no more tasks, and leave when those that they have end. Only then are they decommissioned:
 * they hand cached blocks and shuffle output to the others, and end. A task that caches a block fails if its executor was
 * decommissioned meanwhile, which counts against the job. A plain kill can fail a job whose shuffle output is lost.
 *
 * @param decommission false where the user forbade it: then only executors that hold nothing are retired
 */
private[slaq] final class Reconciler(shim: SchedulerBackendShim, backend: ExecutorAllocationClient, holdings: Holdings, decommission: Boolean)
    extends Logging {

  /** One look; to be called a few times a second. `pausable`: even the last one may go. */
  def step(pausable: => Boolean): Unit = {
    val victims = mayGo(shim.most.fold(Seq.empty[Executor])(surplus(_, pausable)))
    if (victims.nonEmpty || holdings.draining.nonEmpty) {
      val empty = holdings.drain(victims.map(_.id).toSet)
      retire(victims.filter(e => empty(e.id) || (decommission && System.nanoTime() - holdings.draining(e.id) > Reconciler.PatienceNanos)))
    }
  }

  private def surplus(most: Int, pausable: => Boolean): Seq[Executor] = {
    val surplus = holdings.active().size - math.max(most, 1)
    if (surplus > 0) Reconciler.victims(holdings.executors(), surplus, holdings.draining.keySet)
    else if (most == 0 && surplus == 0 && pausable) holdings.executors()
    else Nil
  }

  private def mayGo(victims: Seq[Executor]): Seq[Executor] =
    if (decommission) victims
    else if (victims.isEmpty || holdings.shuffled()) Nil
    else victims.filter(_.cached == 0)

  private def retire(victims: Seq[Executor]): Unit = if (victims.nonEmpty) {
    val ids = victims.map(_.id)
    if (decommission) {
      val gone = backend.decommissionExecutors(ids.map(_ -> ExecutorDecommissionInfo("fewer executors are planned")).toArray, false, false)
      logInfo(s"Executors ${gone.mkString(", ")} retire with ${victims.map(_.cached).sum} cached blocks")
    } else backend.killExecutors(ids, false, false, false)
  }
}

private[slaq] object Reconciler {

  /** Longest wait for the tasks of a surplus executor. */
  private val PatienceNanos = 10L * 1000 * 1000 * 1000

  /** Those whose loss costs least: already `draining`, then fewest cached blocks, then idle, then youngest. */
  def victims(executors: Seq[Executor], surplus: Int, draining: Set[String]): Seq[Executor] =
    executors.sortBy(e => (!draining(e.id), e.cached, e.busy, e.age)).take(math.max(0, math.min(surplus, executors.size - 1)))
}
