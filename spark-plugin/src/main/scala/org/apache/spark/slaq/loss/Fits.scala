// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import org.apache.spark.ml.PipelineStage

/** The frame of each training of `spark.ml`, and the end of the RDD-based algorithms, which begin in several ways. */
private[loss] final class Fits(runs: Runs) extends Family {
  override val probes: Map[String, Array[AnyRef] => Unit] = Map(
    "fit.begin" -> { case Array(instrumentation) => runs.enter(instrumentation, Runs.Estimator) },
    "fit.estimator" -> { case Array(instrumentation, stage: PipelineStage) =>
      runs.name(instrumentation, Algorithm.of(stage), Some(stage.uid))
    },
    // Not logSuccess or logFailure: a `return` inside the training passes neither.
    "fit.end" -> { case Array(thrown) => runs.leaveInnermost(Runs.Estimator, Runs.outcome(thrown)) },
    "library.end" -> { case Array(thrown, key) => runs.leave(key, Runs.outcome(thrown)) })
}
