package org.apache.spark.slaq.engine

/**
 * The engine's functions in the native library, one to one. A class and not an object, whose natives would be looked
 * up under another name. Use [[Engine]], which loads the library first.
 *
 * Every function throws IllegalArgumentException for an input that it refuses and IllegalStateException for anything
 * else, a panic and a closed handle included. Times are seconds of any one monotonic clock.
 */
private[engine] final class Native {

  /** Version of the library. */
  @native def version(): String

  /** A new engine's handle, from a JSON object of settings; the level is that of the library's own log. */
  @native def open(config: String, logLevel: String): Long

  @native def start(handle: Long, run: String, now: Double): Unit

  /** `stages` holds four numbers a stage: tasks, and the seconds of all tasks, of the longest task and of the stage. */
  @native def report(handle: Long, run: Long, iteration: Int, loss: Double, now: Double, stages: Array[Double]): Unit

  @native def observe(handle: Long, run: Long, now: Double, stages: Array[Double]): Unit

  @native def finish(handle: Long, run: Long, now: Double): Unit

  /** Pairs of run and cores. */
  @native def plan(handle: Long, cores: Int, others: Double, now: Double): Array[Long]

  /** JSON. */
  @native def explain(handle: Long): String

  /** JSON: each active run's gain within so many seconds, at the core counts that matter. */
  @native def outlook(handle: Long, cores: Int, horizon: Double): String

  /** Does nothing when the handle is closed already. */
  @native def close(handle: Long): Unit
}
