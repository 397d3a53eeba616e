// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import scala.collection.mutable

import org.apache.spark.mllib.feature.Word2Vec
import org.apache.spark.mllib.tree.configuration.Strategy
import org.apache.spark.scheduler.{SparkListener, SparkListenerStageCompleted, SparkListenerStageSubmitted}

/** Trainings that have no loss in the driver at all: ALS, Word2Vec, trees and forests. Their stages are counted. */
private[loss] final class Progresses(runs: Runs) extends Family {
  override val probes: Map[String, Array[AnyRef] => Unit] = Map(
    "als.begin" -> { case Array(ratings, iterations: Integer) => if (runs.outermost) runs.begin(ratings, Algorithm.als(iterations)) },
    "als.run" -> { case Array(algorithm) =>
      if (runs.outermost) runs.begin(algorithm, Algorithm.als(Inside.field(algorithm, "iterations").asInstanceOf[Int]))
    },
    "forest.begin" -> { case Array(rows, strategy: Strategy, trees: Integer) =>
      if (runs.outermost)
        runs.begin(rows, Algorithm.forest(Algorithm(if (trees == 1) "DecisionTree" else "RandomForest"), strategy.maxDepth))
    },
    "word2vec.begin" -> { case Array(algorithm: Word2Vec) =>
      val iterations = Inside.field(algorithm, "numIterations").asInstanceOf[Int]
      if (runs.outermost) runs.begin(algorithm, Algorithm("Word2Vec").copy(maxIterations = Some(iterations), steps = iterations))
    })
}

/** Counts the stages that a run without a loss completes. All on Spark's listener thread. */
private[loss] class StageCounter(runs: Runs) extends SparkListener {
  private final class Count(val run: Run) {
    var done = 0
  }

  private val counts = mutable.Map[Long, Count]() // by run
  private val stages = mutable.Map[Int, Count]()

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit =
    for {
      properties <- Option(event.properties)
      run <- runs.get(properties.getProperty(LossTap.RunProperty))
      if run.kind.stages.nonEmpty && event.stageInfo.name.startsWith(run.kind.stages)
    } stages(event.stageInfo.stageId) = counts.getOrElseUpdate(run.id, new Count(run))

  override def onStageCompleted(event: SparkListenerStageCompleted): Unit =
    for (count <- stages.remove(event.stageInfo.stageId)) {
      if (count.run.open && event.stageInfo.failureReason.isEmpty) {
        count.done += 1
        runs.progress(count.run, count.done, count.run.kind.steps)
      }
      if (!count.run.open) counts -= count.run.id
    }
}
