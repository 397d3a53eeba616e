// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import breeze.optimize.FirstOrderMinimizer

import org.apache.spark.mllib.optimization.{GradientDescent, LBFGS}
import org.apache.spark.mllib.regression.GeneralizedLinearAlgorithm

/** Gradient methods: breeze's minimizers (L-BFGS, OWL-QN, L-BFGS-B) and MLlib's own mini-batch gradient descent. */
private[loss] final class Optimizers(runs: Runs) extends Family {
  import Optimizers._

  override val probes: Map[String, Array[AnyRef] => Unit] = Map(
    "breeze.begin" -> { case Array(function) =>
      runs.current("breeze").foreach(run => run.memory = new Minimisation(run.last + 1, Inside.isDistributed(function)))
    },
    "breeze.state" -> { case Array(state: FirstOrderMinimizer.State[_, _, _]) =>
      for (run <- runs.current("breeze")) run.memory match {
        case m: Minimisation if m.distributed => runs.loss(run, m.first + state.iter, state.adjustedValue)
        case _ =>
      }
    },

    "sgd.loss" -> { case Array(loss: java.lang.Double) => runs.current("sgd").foreach(runs.loss(_, loss)) },

    // Optimizers that the user calls without an algorithm around.
    "sgd.begin" -> { case Array(weights, iterations: Integer, tolerance: java.lang.Double) =>
      alone(weights, "GradientDescent", iterations, tolerance)
    },
    "lbfgs.begin" -> { case Array(weights, iterations: Integer, tolerance: java.lang.Double) =>
      alone(weights, "LBFGS", iterations, tolerance)
    },

    "linear.begin" -> { case Array(algorithm: GeneralizedLinearAlgorithm[_]) =>
      if (runs.outermost) runs.begin(algorithm, linear(algorithm))
    })

  private def alone(key: AnyRef, name: String, iterations: Int, tolerance: Double): Unit =
    if (runs.outermost)
      runs.begin(key, Algorithm(name).copy(maxIterations = Some(iterations), tolerance = Some(tolerance)))

  /** Users may have derived their own algorithm, so what it trains with tells its kind, not its name. */
  private def linear(algorithm: GeneralizedLinearAlgorithm[_]): Algorithm = {
    val name = Algorithm.simpleName(algorithm)
    algorithm.optimizer match {
      case sgd: GradientDescent =>
        Algorithm("GradientDescent").copy(name = name,
          maxIterations = Some(Inside.field(sgd, "numIterations").asInstanceOf[Int]),
          tolerance = Some(Inside.field(sgd, "convergenceTol").asInstanceOf[Double]))
      case lbfgs: LBFGS =>
        Algorithm("LBFGS").copy(name = name, maxIterations = Some(Inside.iterations(lbfgs)),
          tolerance = Some(Inside.tolerance(lbfgs)))
      case _ => Algorithm(name)
    }
  }
}

private[loss] object Optimizers {
  /**
   * One minimisation. Its iterations count from `first`, since a training may minimise twice.
   *
   * @param distributed whether its function runs Spark jobs; some trainings minimise over sums in the driver alone,
   *                    in no time, which is no training to schedule
   */
  private final class Minimisation(val first: Int, val distributed: Boolean)
}
