package org.apache.spark.slaq.arbiter

/**
 * The arbiter's functions in the native library, one to one; see [[LocalArbiter]]. Times are seconds of any one monotonic
 * clock. Every function throws IllegalArgumentException for an input that it refuses and IllegalStateException for
 * anything else, a closed handle included.
 */
private[arbiter] final class Native {

  /** A new arbiter's handle, from a JSON object of settings. */
  @native def open(settings: String, now: Double): Long

  /** Two lines: the application that reported (empty for any other message), and the answer to send. */
  @native def receive(handle: Long, message: Array[Byte], now: Double): String

  @native def disconnected(handle: Long, app: String, now: Double): Unit

  /** What happened since the last time, a line each. */
  @native def tick(handle: Long, now: Double): String

  @native def setCores(handle: Long, cores: Int): Unit

  @native def setTenants(handle: Long, tenants: String): Unit

  /** Does nothing when the handle is closed already. */
  @native def close(handle: Long): Unit
}
