package org.apache.spark.slaq

/** Wall time that never steps back: the time of day when the plugin was loaded, and the monotonic clock since. */
private[slaq] object Clock {
  private val origin = System.currentTimeMillis() * 1e-3
  private val nanos = System.nanoTime()

  /** Seconds since 1970. */
  def wall(): Double = origin + (System.nanoTime() - nanos) * 1e-9
}
