// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import org.apache.spark.ml.tree.{DecisionTreeModel, InternalNode, Node}
import org.apache.spark.mllib.tree.configuration.BoostingStrategy
import org.apache.spark.mllib.tree.loss.{AbsoluteError, LogLoss, SquaredError}

/**
 * Gradient-boosted trees. Spark does not compute their training loss, but for the squared error it follows exactly from
 * the tree that was just grown, without a Spark job. See [[Algorithm.boosted]] for the other losses.
 */
private[loss] final class Boostings(runs: Runs) extends Family {
  import Boostings._

  override val probes: Map[String, Array[AnyRef] => Unit] = Map(
    "boosting.begin" -> { case Array(strategy: BoostingStrategy, validated: java.lang.Boolean) =>
      if (runs.outermost) runs.begin(strategy, describe(strategy, validated))
      runs.current.foreach(_.memory = new Boosting(strategy, validated))
    },
    "boosting.tree" -> { case Array(trees: Array[AnyRef]) =>
      for (run <- runs.current; tree <- trees.headOption) (run.memory, tree) match {
        case (boosting: Boosting, tree: DecisionTreeModel) => grown(run, boosting, tree.rootNode)
        case _ =>
      }
    },
    "boosting.validation" -> { case Array(error: java.lang.Double) => runs.current("boosting").foreach(runs.loss(_, error)) })

  private def describe(strategy: BoostingStrategy, validated: Boolean): Algorithm = {
    val loss = strategy.loss match {
      case SquaredError => "squared"
      case AbsoluteError => "absolute"
      case _ => "logistic"
    }
    Algorithm.boosted(Algorithm("GradientBoostedTrees"), loss, strategy.treeStrategy.subsamplingRate == 1.0, validated)
      .copy(maxIterations = Some(strategy.numIterations))
  }

  private def grown(run: Run, boosting: Boosting, root: Node): Unit = {
    val first = boosting.trees == 0
    boosting.trees += 1
    if (!run.kind.hasLoss) runs.progress(run, boosting.trees, boosting.strategy.numIterations)
    else if (!boosting.validated) boosting.strategy.loss match {
      case SquaredError => runs.loss(run, squaredError(root, first, boosting.strategy.learningRate))
      case LogLoss => runs.loss(run, secondMoment(root) / (if (first) 1 else 4))
      case _ => runs.loss(run, secondMoment(root))
    }
  }

  /**
   * Mean squared error of the ensemble with this tree. The first tree is fitted to the labels and added whole. Each
   * later one is fitted to 2 (y - F), so a row that falls into a leaf with prediction p keeps the residual
   * (r - 2 eta p) / 2, and the leaf's rows together: weight * (impurity + (p - 2 eta p)^2) / 4.
   */
  private def squaredError(root: Node, first: Boolean, rate: Double): Double = {
    val (left, scale) = if (first) (0.0, 1.0) else (1 - 2 * rate, 4.0)
    var errors, weights = 0.0
    def add(node: Node): Unit = node match {
      case inner: InternalNode =>
        add(inner.leftChild)
        add(inner.rightChild)
      case leaf =>
        val weight = Inside.weight(leaf)
        val kept = leaf.prediction * left
        errors += weight * (leaf.impurity + kept * kept)
        weights += weight
    }
    add(root)
    errors / weights / scale
  }

  /** Mean square of what a tree was fitted to: the loss's gradient under the ensemble before it. */
  private def secondMoment(root: Node): Double = root.impurity + root.prediction * root.prediction
}

private[loss] object Boostings {
  private final class Boosting(val strategy: BoostingStrategy, val validated: Boolean) {
    var trees = 0
  }
}
