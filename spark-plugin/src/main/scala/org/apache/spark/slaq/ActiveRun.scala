package org.apache.spark.slaq

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.scheduler.slaq.RunAccount
import org.apache.spark.slaq.loss.Run

/**
 * What the planner knows of an open run.
 *
 * @param account its cores; None where Spark's own scheduler runs
 * @param planned whether the engine plans for it: not for one that only starts other runs or is in a user's pool
 * @param startedAt wall time in seconds
 */
private[slaq] final class ActiveRun(val run: Run, val account: Option[RunAccount], val planned: Boolean, val startedAt: Double) {
  private var points = new ArrayBuffer[LossPoint]
  private var last: Option[LossPoint] = None
  private var shareSince = startedAt
  private var shareNow = account.fold(0)(_.share)
  private var shareSeconds = 0.0
  private val running = account.map(new MeanRunning(_, startedAt))

  def add(point: LossPoint): Unit = synchronized {
    points += point
    last = Some(point)
  }

  def lastLoss: Option[LossPoint] = synchronized(last)

  /** Iterations done; the loss of iteration 0 is that of the start. */
  def iterations: Int = lastLoss.fold(0)(_.iteration)

  /** Losses since the last call. */
  def drainPoints(): Seq[LossPoint] = synchronized {
    val drained = points
    points = new ArrayBuffer[LossPoint]
    drained.toList
  }

  /** A plan gave this many cores. */
  def share(cores: Int, now: Double): Unit = synchronized {
    shareSeconds += shareNow * (now - shareSince)
    shareSince = now
    shareNow = cores
  }

  /** The share, as a mean over the time of the run. */
  def meanShare(now: Double): Double = synchronized {
    share(shareNow, now)
    if (now > startedAt) shareSeconds / (now - startedAt) else shareNow
  }

  def coreSeconds: Double = account.fold(0.0)(_.coreSeconds())

  /** Tasks that ran, as a mean over the time since the last call. */
  def meanRunning(now: Double): Double = running.fold(0.0)(_.since(now))
}

/**
 * A loss as the algorithm stated it.
 *
 * @param time wall time in seconds
 */
private[slaq] final case class LossPoint(iteration: Int, loss: Double, time: Double)
