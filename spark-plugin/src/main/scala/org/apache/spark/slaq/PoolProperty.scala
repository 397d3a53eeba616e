package org.apache.spark.slaq

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.slaq.{RunPools, SlaqScheduling}
import org.apache.spark.slaq.loss.Run

/**
 * Names a run's pool on its fit thread, so that Spark's pages list the run's stages there. The scheduler would find the
 * pool without it.
 */
private[slaq] final class PoolProperty(sc: SparkContext) {
  import PoolProperty._

  private val before = new ConcurrentHashMap[Long, Before]

  /** Whether this thread's work may go to a run's pool, as its user named none. */
  def isFree(scheduler: Option[SlaqScheduling]): Boolean =
    !scheduler.exists(_.fair) || Option(sc.getLocalProperty(Key)).forall(_.startsWith(RunPools.Prefix))

  def enter(run: Run, pool: String): Unit = {
    before.put(run.id, Before(Thread.currentThread, sc.getLocalProperty(Key)))
    sc.setLocalProperty(Key, pool)
  }

  /** Restores what was before, unless another thread ends the run. */
  def leave(run: Run): Unit = Option(before.remove(run.id)).foreach { found =>
    if (found.thread eq Thread.currentThread) sc.setLocalProperty(Key, found.value)
  }
}

private[slaq] object PoolProperty {
  private final case class Before(thread: Thread, value: String)

  private val Key = "spark.scheduler.pool"
}
