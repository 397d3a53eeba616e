package org.apache.spark.slaq.arbiter

/** Lets something happen at most once in so many seconds, so that a fault that repeats does not fill a log. */
private[slaq] final class RateLimit(seconds: Double) {
  private var next = Double.NegativeInfinity
  private var held = 0L

  /** Calls `act` unless it was called a moment ago, with words that tell how often it was not; empty if never. */
  def apply(act: String => Unit): Unit = synchronized {
    val now = System.nanoTime() * 1e-9
    if (now < next) held += 1
    else {
      val words = if (held > 0) s" (and $held times since the last such line)" else ""
      next = now + seconds
      held = 0
      act(words)
    }
  }
}
