package org.apache.spark.scheduler.slaq

import scala.collection.mutable

import org.apache.spark.scheduler.Pool

/**
 * The fair scheduler's pools of the open runs: `slaq-0`, `slaq-1`, … used again and again, since Spark never forgets
 * the name of a pool. Guarded by the scheduler's lock.
 */
private[slaq] final class RunPools(root: => Pool) {
  private val pools = new mutable.ArrayBuffer[RunPool]
  private val taken = new mutable.LongMap[RunPool]

  /** The run's pool, which is made or taken over from a run that ended. */
  def open(run: Long): RunPool = taken.getOrElseUpdate(run, pools.find(p => !taken.valuesIterator.contains(p)).getOrElse(added()))

  def close(run: Long): Unit = taken.remove(run).foreach(_.setShare(0))

  def get(run: Long): Option[RunPool] = taken.get(run)

  /** Whether a pool of this name is one of a run's. */
  def isOurs(name: String): Boolean = pools.exists(_.name == name)

  private def added(): RunPool = {
    val pool = new RunPool(s"${RunPools.Prefix}${pools.length}")
    pools += pool
    root.addSchedulable(pool)
    pool
  }
}

private[spark] object RunPools {
  val Prefix = "slaq-"
}
