package org.apache.spark.slaq.executors

import org.apache.spark.{ExecutorAllocationClient, MapOutputTrackerMaster, SparkContext}
import org.apache.spark.scheduler.TaskSchedulerImpl
import org.apache.spark.scheduler.slaq.SlaqScheduling

/**
 * An executor that is there to stay.
 *
 * @param id as Spark counts them: a larger number is younger
 * @param cached blocks of RDDs in it
 */
private[slaq] final case class Executor(id: String, cached: Int, busy: Boolean) {
  def age: Long = scala.util.Try(-id.toLong).getOrElse(0L)
}

/** What an application's executors hold. */
private[slaq] final class Holdings(sc: SparkContext, backend: ExecutorAllocationClient) {

  @volatile private var kept = Map.empty[String, Long]

  /** Executors that are to get no more tasks, and since when by `System.nanoTime`. */
  def draining: Map[String, Long] = kept

  /** Ids of executors that neither leave nor are told to. */
  def active(): Seq[String] = backend.getExecutorIds().filter(backend.isExecutorActive)

  /** Those of the active ones that get tasks. */
  def open(): Seq[String] = active().filterNot(kept.contains)

  /**
   * Those of the active ones that the scheduler has met. One that has registered but not yet launched cannot be retired
   * cleanly: Spark would complain of losing an executor that it does not know.
   */
  def executors(): Seq[Executor] = {
    val cached = sc.env.blockManager.master.getStorageStatus.map(s => s.blockManagerId.executorId -> s.rddBlocks.size).toMap
    active().filter(id => scheduler.forall(_.isExecutorAlive(id))).map(id => Executor(id, cached.getOrElse(id, 0), scheduler.exists(_.isExecutorBusy(id))))
  }

  /** Keeps tasks away from these executors and no others; see [[SlaqScheduling.drain]]. A scheduler that is not ours may give them some. */
  def drain(executors: Set[String]): Set[String] = {
    val now = System.nanoTime()
    kept = executors.map(id => id -> kept.getOrElse(id, now)).toMap
    sc.taskScheduler match {
      case ours: SlaqScheduling => ours.drain(executors)
      case _ => executors.filterNot(id => scheduler.exists(_.isExecutorBusy(id)))
    }
  }

  private def scheduler: Option[TaskSchedulerImpl] = sc.taskScheduler match {
    case known: TaskSchedulerImpl => Some(known)
    case _ => None
  }

  /** Whether shuffle output lies with executors, which would be lost with them. */
  def shuffled(): Boolean = sc.env.mapOutputTracker match {
    case tracker: MapOutputTrackerMaster => tracker.shuffleStatuses.values.exists(_.numAvailableMapOutputs > 0)
    case _ => false
  }
}
