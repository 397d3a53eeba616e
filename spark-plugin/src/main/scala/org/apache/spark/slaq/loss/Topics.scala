// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import org.apache.spark.mllib.clustering.{EMLDAOptimizer, OnlineLDAOptimizer}

/**
 * LDA computes no likelihood while it trains, and one would cost a pass over the data. What stands in for the loss is
 * the relative change of the topics, which both optimizers let fall towards 0: sum |new - old| / sum |new|.
 */
private[loss] final class Topics(runs: Runs) extends Family {
  override val probes: Map[String, Array[AnyRef] => Unit] = Map(
    "lda.em" -> { case Array(optimizer: EMLDAOptimizer) =>
      runs.current("lda").foreach(run => changed(run, sample(Inside.topicTotals(optimizer))))
    },
    "lda.before" -> { case Array(optimizer: OnlineLDAOptimizer) =>
      runs.current("lda").foreach(_.memory = sample(Inside.lambda(optimizer)))
    },
    "lda.after" -> { case Array(optimizer: OnlineLDAOptimizer) =>
      runs.current("lda").foreach(run => changed(run, sample(Inside.lambda(optimizer))))
    })

  private def changed(run: Run, now: Array[Double]): Unit = {
    run.memory match {
      case before: Array[Double] if before.length == now.length =>
        val change = now.indices.iterator.map(i => math.abs(now(i) - before(i))).sum
        runs.loss(run, change / now.iterator.map(math.abs).sum)
      case _ => // the first iteration of EM has nothing to compare with
    }
    run.memory = now
  }

  /** A copy, thinned out evenly: topics x words may be many millions, and their change shows in a few thousand. */
  private def sample(values: Array[Double]): Array[Double] = {
    val step = math.max(1, values.length / Topics.Sample)
    Array.tabulate((values.length + step - 1) / step)(i => values(i * step))
  }
}

private[loss] object Topics {
  private val Sample = 8192
}
