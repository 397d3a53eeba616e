// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

/**
 * One iterative training: one `fit` or `train` on one driver thread.
 *
 * @param id      unique in this JVM, also over several SparkContexts
 * @param parent  the run that this one is part of (CrossValidator, OneVsRest, Pipeline…)
 * @param uid     uid of the estimator; the RDD-based API has none, there it is made of algorithm and id
 * @param name    what the user calls it (local property `spark.slaq.run.name`), else the uid
 * @param tier    how its losses come: `weave` (exact), `log` (printed digits), `none`
 */
final class Run private[loss] (
    val id: Long,
    val parent: Option[Run],
    private[loss] val kind: Algorithm,
    val uid: String,
    val name: String,
    val tier: String) {

  /** Simple class name of the estimator or of the RDD-based algorithm. */
  def algorithm: String = kind.name

  /** It trains only through inner runs and has no loss of its own. */
  def meta: Boolean = kind.meta

  /** Whether losses can be expected; otherwise there may be progress. */
  def hasLoss: Boolean = kind.hasLoss && tier != "none"

  /** Whether the loss rises as the model gets better. */
  def maximise: Boolean = kind.maximise

  /** Upper bound as the user gave it, where the algorithm has one. */
  def maxIterations: Option[Int] = kind.maxIterations

  /** The algorithm's own stopping tolerance, where it has one. */
  def tolerance: Option[Double] = kind.tolerance

  /** What the loss is: `mean`, `sum`, `stochastic` (noisy), `change` (of the model), `proxy`, `none`. */
  def scale: String = kind.scale

  @volatile private var ended = false

  /** Until its fit returns or throws. */
  def open: Boolean = !ended

  private[loss] def end(): Unit = ended = true

  /** Iteration of the last loss, -1 before the first. Written by the fit thread only. */
  private[loss] var last = -1

  /** What the algorithm's family remembers between two probes. Used by the fit thread only. */
  private[loss] var memory: AnyRef = _

  override def toString: String = s"run $id ($algorithm $name)"
}

/**
 * Told what trainings do. Calls come on the fit thread, except [[progress]], which may come from Spark's listener
 * thread, and [[finished]] of runs that a closing tap abandons. No call comes after [[finished]].
 */
trait RunEvents {
  /** Exactly once for a run, before anything else of it. */
  def started(run: Run): Unit

  /** Once an iteration, iterations rising. The value is as Spark computes it, its sign included; it may be NaN. */
  def loss(run: Run, iteration: Int, value: Double): Unit

  /** Work done by a run without a loss; `total` is at least `done`, and 0 where it cannot be known. */
  def progress(run: Run, done: Int, total: Int): Unit

  /** Exactly once for a run: `finished`, `failed` (its fit threw) or `abandoned` (the tap closed before its end). */
  def finished(run: Run, outcome: String): Unit
}
