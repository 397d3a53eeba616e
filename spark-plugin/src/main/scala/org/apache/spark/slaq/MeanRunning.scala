package org.apache.spark.slaq

import org.apache.spark.scheduler.slaq.RunAccount

/** Tasks of an account that ran, as a mean between two looks. */
private[slaq] final class MeanRunning(account: RunAccount, start: Double) {
  private var at = start
  private var coreSeconds = account.coreSeconds()

  /** The mean since the last call, or since the start. */
  def since(now: Double): Double = synchronized {
    val used = account.coreSeconds()
    val mean = if (now > at) (used - coreSeconds) / (now - at) else 0.0
    at = now
    coreSeconds = used
    mean
  }
}
