package org.apache.spark.scheduler.slaq

import scala.collection.mutable

import org.apache.spark.scheduler.{DirectTaskResult, ExecutorCacheTaskLocation, TaskDescription, TaskLocality, TaskSet, TaskSetManager}
import org.apache.spark.scheduler.TaskLocality.TaskLocality
import org.apache.spark.slaq.engine.StageWork

/**
 * A task set that refuses offers while its run is at the limit, and writes what it uses to the run's account.
 *
 * A barrier stage needs all its slots at once, so it is counted and never limited. As in Spark's own, everything here
 * happens under the scheduler's lock.
 */
private[slaq] class LimitedTaskSetManager(scheduler: SlaqScheduling, taskSet: TaskSet, maxTaskFailures: Int, val account: RunAccount)
    extends TaskSetManager(scheduler, taskSet, maxTaskFailures, scheduler.healthTrackerOpt) {

  private val pinned = Option(taskSet.properties).exists(_.getProperty(LimitedTaskSetManager.Pinned) != null)
  private lazy val places = taskSet.tasks.toSeq.flatMap(_.preferredLocations)
  private val submittedAt = System.nanoTime()
  private val startedAt = new mutable.LongMap[Long]
  private var taskNanos = 0L
  private var longestNanos = 0L

  override def resourceOffer(
      executor: String,
      host: String,
      locality: TaskLocality,
      cpus: Int,
      resources: SparkLine.TaskResources): (Option[TaskDescription], Boolean, Int) =
    if (elsewhere(locality) || !isBarrier && !scheduler.offering.allows(account)) (None, false, -1)
    else super.resourceOffer(executor, host, locality, cpus, resources)

  /** Whether the offer is for a place that is not a task's own, of tasks that can do nothing there and whose places are alive. */
  private def elsewhere(locality: TaskLocality): Boolean =
    pinned && locality != TaskLocality.PROCESS_LOCAL && places.nonEmpty && places.forall {
      case place: ExecutorCacheTaskLocation => scheduler.isExecutorAlive(place.executorId)
      case _ => false
    }

  override def addRunningTask(task: Long): Unit = {
    if (!startedAt.contains(task)) {
      val now = System.nanoTime()
      startedAt(task) = now
      scheduler.offering.launching(account)
      account.taskStarted(now)
    }
    super.addRunningTask(task)
  }

  override def removeRunningTask(task: Long): Unit = {
    startedAt.remove(task).foreach { start =>
      val now = System.nanoTime()
      taskNanos += now - start
      longestNanos = math.max(longestNanos, now - start)
      account.taskEnded(now)
    }
    super.removeRunningTask(task)
  }

  /** Before Spark's own handling, which tells the waiting job: what follows the job finds its last stage in the account. */
  override def handleSuccessfulTask(task: Long, result: DirectTaskResult[_]): Unit = {
    if (taskInfos.get(task).exists(info => !info.finished && !successful(info.index)) && tasksSuccessful + 1 == numTasks) {
      removeRunningTask(task)
      account.stageFinished(
        new StageWork(numTasks, taskNanos * 1e-9, longestNanos * 1e-9, (System.nanoTime() - submittedAt) * 1e-9))
    }
    super.handleSuccessfulTask(task, result)
  }
}

private[spark] object LimitedTaskSetManager {

  /** Local property of jobs whose tasks run on the executors that they prefer, or wait for them as long as these live. */
  val Pinned = "spark.slaq.pinned"
}
