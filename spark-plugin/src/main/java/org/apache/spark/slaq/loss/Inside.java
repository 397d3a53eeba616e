// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import breeze.optimize.CachedDiffFunction;
import org.apache.spark.ml.optim.IterativelyReweightedLeastSquares;
import org.apache.spark.ml.optim.WeightedLeastSquaresModel;
import org.apache.spark.ml.optim.loss.RDDLossFunction;
import org.apache.spark.ml.tree.Node;
import org.apache.spark.mllib.clustering.EMLDAOptimizer;
import org.apache.spark.mllib.clustering.OnlineLDAOptimizer;
import org.apache.spark.mllib.optimization.LBFGS;

/**
 * MLlib values that Scala's qualified {@code private} hides from our package, though they are public in bytecode: hence
 * Java. What is private there too is read by reflection, by name. Parameters whose class is itself hidden are Objects:
 * scalac reads these signatures.
 */
final class Inside {
  private Inside() {}

  /** Weight of the rows that reached a tree node. */
  static double weight(Node node) {
    return node.impurityStats().stats()[0];
  }

  /** The topics' totals after an EM iteration of LDA. */
  static double[] topicTotals(EMLDAOptimizer optimizer) {
    return (double[]) optimizer.globalTopicTotals().data();
  }

  /** The topics' word weights of online LDA; the live array, column by column. */
  static double[] lambda(OnlineLDAOptimizer optimizer) {
    return (double[]) optimizer.getLambda().data();
  }

  static int iterations(LBFGS optimizer) {
    return optimizer.getNumIterations();
  }

  static double tolerance(LBFGS optimizer) {
    return optimizer.getConvergenceTol();
  }

  /** Whether a function that breeze minimises runs Spark jobs. */
  static boolean isDistributed(Object function) throws ReflectiveOperationException {
    if (function instanceof CachedDiffFunction) return isDistributed(field(function, "obj"));
    return function instanceof RDDLossFunction
        || function.getClass().getName().equals("org.apache.spark.mllib.optimization.LBFGS$CostFun");
  }

  /** What reweighting starts from: see {@link #coefficients}. */
  static double[] initialCoefficients(Object irls) {
    return coefficients(((IterativelyReweightedLeastSquares) irls).initialModel());
  }

  /** A least squares model's coefficients and, last, its intercept: a copy, since Spark overwrites them in place. */
  static double[] coefficients(Object model) {
    WeightedLeastSquaresModel fitted = (WeightedLeastSquaresModel) model;
    double[] values = fitted.coefficients().toArray();
    double[] copy = Arrays.copyOf(values, values.length + 1);
    copy[values.length] = fitted.intercept();
    return copy;
  }

  /** A field by name, wherever in the class hierarchy it is declared. */
  static Object field(Object of, String name) throws ReflectiveOperationException {
    for (Class<?> c = of.getClass(); c != null; c = c.getSuperclass()) {
      for (Field field : c.getDeclaredFields()) {
        if (field.getName().equals(name)) {
          field.setAccessible(true);
          return field.get(of);
        }
      }
    }
    throw new NoSuchFieldException(of.getClass().getName() + "." + name);
  }

  /** The result of a public method without parameters. */
  static Object call(Object of, String name) throws ReflectiveOperationException {
    Method method = of.getClass().getMethod(name);
    method.setAccessible(true);
    return method.invoke(of);
  }
}
