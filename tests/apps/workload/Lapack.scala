package workload

import dev.ludovic.netlib.lapack.LAPACK

/**
 * A fault of the LAPACK in Java that Spark falls back to: it finds out the machine's precision at its first use, in static
 * fields and without a lock. Two threads that use it for the first time at once, such as the first two tasks of a
 * GaussianMixture, may compute with half of it, and one of them may then loop for ever.
 */
object Lapack {
  /** Uses it for the first time, on this thread alone. */
  def warmUp(): Unit = LAPACK.getInstance().dlamch("E")
}
