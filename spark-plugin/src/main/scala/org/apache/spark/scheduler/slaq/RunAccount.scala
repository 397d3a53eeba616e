package org.apache.spark.scheduler.slaq

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.slaq.engine.StageWork

/**
 * The cores of one run: what it may use, what it uses, and what it has used. A core is a task slot.
 *
 * Changed under the scheduler's lock, and read by any thread; each operation takes constant time.
 *
 * @param run id of the run, or [[RunAccounts.Others]]
 */
private[spark] final class RunAccount(val run: Long) {
  @volatile private var planned = 0
  @volatile private var limited = false
  @volatile private var tasks = 0
  @volatile private var busyAt = System.nanoTime()
  private var countedAt = busyAt
  private var coreNanos = 0L
  private val finished = new ArrayBuffer[StageWork]

  /** Tasks that run now. */
  def running: Int = tasks

  /** Planned cores; 0 before the first plan. */
  def share: Int = planned

  /** Whether one more task may start within the share. */
  def hasRoom: Boolean = !limited || tasks < planned

  /** Cores in use beyond the share, which were lent. */
  def borrowed: Int = math.max(0, tasks - planned)

  /** Cores of the share that nothing runs on. */
  def unused: Int = if (limited) math.max(0, planned - tasks) else 0

  /** Nanoseconds since the account last launched a task or used its whole share: how long `unused` could be lent. */
  def idleNanos(now: Long): Long = now - busyAt

  /** Plans the cores, as a limit or only to be counted against. More cores than before start a new idle time. */
  def plan(cores: Int, limit: Boolean): Unit = {
    if (cores > planned) busyAt = System.nanoTime()
    planned = cores
    limited = limit
  }

  /** Takes the limit away. */
  def lift(): Unit = limited = false

  def taskStarted(now: Long): Unit = synchronized {
    count(now)
    tasks += 1
    busyAt = now
  }

  def taskEnded(now: Long): Unit = synchronized {
    count(now)
    if (tasks >= planned) busyAt = now
    tasks -= 1
  }

  def stageFinished(work: StageWork): Unit = synchronized {
    finished += work
  }

  /** Stages that finished since the last call. A stage is here before the job that waits for it continues. */
  def drainStages(): Seq[StageWork] = synchronized {
    val stages = finished.toList
    finished.clear()
    stages
  }

  /** Seconds of core time used so far: the integral of running tasks over time. */
  def coreSeconds(): Double = synchronized {
    count(System.nanoTime())
    coreNanos * 1e-9
  }

  private def count(now: Long): Unit = {
    coreNanos += tasks * (now - countedAt)
    countedAt = now
  }
}
