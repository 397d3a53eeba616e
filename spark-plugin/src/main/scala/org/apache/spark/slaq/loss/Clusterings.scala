// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import scala.collection.mutable

import org.apache.spark.mllib.clustering.{BisectingKMeans, GaussianMixture, KMeans, LDA, PowerIterationClustering}

/**
 * KMeans (the cost of the centres before each update), Gaussian mixtures (total log-likelihood, rising), bisecting
 * KMeans (cost of the whole tree of clusters), power iteration (change of the vector).
 */
private[loss] final class Clusterings(runs: Runs) extends Family {
  override val probes: Map[String, Array[AnyRef] => Unit] = Map(
    "cluster.begin" -> { case Array(algorithm) => if (runs.outermost) runs.begin(algorithm, describe(algorithm)) },
    "kmeans.cost" -> { case Array(cost: java.lang.Double) => runs.current("kmeans").foreach(runs.loss(_, cost)) },
    "mixture.likelihood" -> { case Array(value: java.lang.Double) => runs.current("mixture").foreach(runs.loss(_, value)) },
    "mixture.named" -> {
      case Array(name: String, value: java.lang.Double) if name.startsWith("logLikelihood@iter") =>
        runs.current("mixture").foreach(runs.loss(_, value))
      case _ =>
    },
    "bisecting.summary" -> { case Array(clusters: collection.Map[_, _]) => runs.current("bisecting").foreach(bisected(_, clusters)) },
    "power.delta" -> { case Array(delta: java.lang.Double) => runs.current("power").foreach(runs.loss(_, delta)) })

  private def describe(algorithm: AnyRef): Algorithm = {
    val known = Algorithm(Algorithm.simpleName(algorithm))
    algorithm match {
      case a: KMeans => known.copy(maxIterations = Some(a.getMaxIterations), tolerance = Some(a.getEpsilon))
      case a: GaussianMixture => known.copy(maxIterations = Some(a.getMaxIterations), tolerance = Some(a.getConvergenceTol))
      case a: LDA => known.copy(maxIterations = Some(a.getMaxIterations))
      case a: PowerIterationClustering => known.copy(maxIterations = Some(Inside.field(a, "maxIterations").asInstanceOf[Int]))
      case _: BisectingKMeans | _ => known
    }
  }

  /**
   * Each level of the tree iterates over the children of the clusters that it splits and sees no other cluster. Cluster
   * i has the children 2i and 2i + 1; the tree's cost is that of its leaves.
   */
  private def bisected(run: Run, clusters: collection.Map[_, _]): Unit = {
    if (run.memory == null) run.memory = mutable.Map[Long, Double]()
    val costs = run.memory.asInstanceOf[mutable.Map[Long, Double]]
    val now = clusters.asInstanceOf[collection.Map[Long, AnyRef]].map { case (index, summary) =>
      index -> Inside.call(summary, "cost").asInstanceOf[Double]
    }
    now.keys.map(_ >> 1).toSet[Long].foreach(parent => costs --= Seq(2 * parent, 2 * parent + 1)) // one may be empty now
    costs ++= now
    runs.loss(run, costs.iterator.collect { case (i, cost) if !costs.contains(2 * i) && !costs.contains(2 * i + 1) => cost }.sum)
  }
}
