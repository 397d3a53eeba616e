// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

/**
 * Generalised linear regression. Its deviance would cost a pass over the data and its Pearson statistic is not
 * monotone, so what stands in for the loss is what Spark stops on: the largest change of a coefficient.
 */
private[loss] final class Reweightings(runs: Runs) extends Family {
  override val probes: Map[String, Array[AnyRef] => Unit] = Map(
    "irls.begin" -> { case Array(irls) =>
      runs.current("irls").foreach(_.memory = Inside.initialCoefficients(irls))
    },
    "irls.model" -> { case Array(model) =>
      for (run <- runs.current("irls")) {
        val now = Inside.coefficients(model)
        run.memory match {
          case before: Array[Double] if before.length == now.length =>
            runs.loss(run, now.indices.iterator.map(i => math.abs(before(i) - now(i))).max)
          case _ =>
        }
        run.memory = now
      }
    })
}
