// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.test

import scala.collection.mutable

import org.apache.spark.ml.classification._
import org.apache.spark.ml.clustering._
import org.apache.spark.ml.linalg.Vector
import org.apache.spark.ml.regression._
import org.apache.spark.mllib.classification.{LogisticRegressionWithLBFGS, SVMWithSGD}
import org.apache.spark.mllib.linalg.Vectors
import org.apache.spark.mllib.optimization.{GradientDescent, LeastSquaresGradient, LogisticGradient, SquaredL2Updater}
import org.apache.spark.mllib.regression.LabeledPoint
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, lit, when}

/**
 * The trainings whose curves are recorded: every algorithm with a loss, on the data of scripts/datasets and of Spark's
 * own data/mllib, with limits high and tolerances low so that whole curves are seen.
 */
final class CurveFits(spark: SparkSession, folder: String) {
  import CurveFits._

  private val loaded = mutable.Map[String, DataFrame]()

  /** A file of (label, features) in memory, in a fixed order and number of partitions. */
  private def data(name: String): DataFrame = loaded.getOrElseUpdate(name, {
    val path = if (name.startsWith("spark-")) s"${sys.env("SPARK_HOME")}/data/mllib/${name.stripPrefix("spark-")}" else s"$folder/$name.libsvm"
    val frame = spark.read.format("libsvm").load(path).repartition(Partitions).cache()
    frame.count()
    frame
  })

  private def odd(frame: DataFrame): DataFrame = frame.withColumn("label", col("label") % 2)
  private def width(frame: DataFrame): Int = frame.select("features").head().getAs[Vector](0).size
  private def points(frame: DataFrame): RDD[LabeledPoint] = frame.select("label", "features").rdd
    .map(row => LabeledPoint(row.getDouble(0), Vectors.fromML(row.getAs[Vector](1)))).cache()

  private def logistic(on: => DataFrame, iterations: Int, l2: Double = 0, l1: Double = 0)() =
    new LogisticRegression().setMaxIter(iterations).setTol(0).setRegParam(l2 + l1).setElasticNetParam(if (l1 > 0) l1 / (l1 + l2) else 0).fit(on)
  private def svc(on: => DataFrame, iterations: Int, l2: Double)() = new LinearSVC().setMaxIter(iterations).setTol(0).setRegParam(l2).fit(on)
  private def linear(on: => DataFrame, iterations: Int, loss: String = "squaredError", l1: Double = 0)() =
    new LinearRegression().setSolver("l-bfgs").setLoss(loss).setMaxIter(iterations).setTol(0).setRegParam(l1).setElasticNetParam(if (l1 > 0) 1 else 0).fit(on)
  private def perceptron(on: => DataFrame, iterations: Int, hidden: Int, classes: Int, seed: Long, solver: String = "l-bfgs")() =
    new MultilayerPerceptronClassifier().setSolver(solver).setStepSize(0.3).setLayers(Array(width(on), hidden, classes)).setMaxIter(iterations).setTol(0).setSeed(seed).fit(on)
  private def kmeans(on: => DataFrame, k: Int, seed: Long, iterations: Int = 100)() =
    new KMeans().setK(k).setSeed(seed).setMaxIter(iterations).setTol(0).setInitMode("random").fit(on)
  private def mixture(on: => DataFrame, k: Int, seed: Long, iterations: Int)() = new GaussianMixture().setK(k).setSeed(seed).setMaxIter(iterations).setTol(1e-9).fit(on)
  private def boosted(on: => DataFrame, trees: Int, depth: Int, step: Double, part: Double = 1)() =
    new GBTRegressor().setMaxIter(trees).setMaxDepth(depth).setStepSize(step).setMaxBins(16).setSubsamplingRate(part).setSeed(1).fit(on)
  private def boostedClasses(on: => DataFrame, trees: Int, depth: Int)() = new GBTClassifier().setMaxIter(trees).setMaxDepth(depth).setMaxBins(16).setSeed(1).fit(on)
  private def factorised(on: => DataFrame, iterations: Int, step: Double, seed: Long, part: Double = 1)() =
    new FMClassifier().setFactorSize(4).setMaxIter(iterations).setTol(0).setStepSize(step).setMiniBatchFraction(part).setSeed(seed).fit(on)
  private def factorisedValues(on: => DataFrame, iterations: Int, step: Double)() =
    new FMRegressor().setFactorSize(4).setMaxIter(iterations).setTol(0).setStepSize(step).setSeed(1).fit(on)
  private def survival(on: => DataFrame, iterations: Int)() =
    new AFTSurvivalRegression().setMaxIter(iterations).setTol(0).fit(on.withColumn("label", when(col("label") > 0, col("label")).otherwise(0.5)).withColumn("censor", lit(1.0)))
  private def topics(on: => DataFrame, iterations: Int, k: Int, optimizer: String)() = new LDA().setK(k).setMaxIter(iterations).setOptimizer(optimizer).setSeed(1).fit(on)
  private def svm(on: => DataFrame, iterations: Int, step: Double, part: Double)() = SVMWithSGD.train(points(on), iterations, step, 1e-3, part)
  private def descent(on: => DataFrame, iterations: Int, step: Double, part: Double, squares: Boolean)() = {
    val rows = points(on).map(p => (p.label, p.features)).cache()
    GradientDescent.runMiniBatchSGD(rows, if (squares) new LeastSquaresGradient else new LogisticGradient, new SquaredL2Updater, step, iterations, 1e-4, part,
      Vectors.zeros(width(on)), 0.0)
  }

  private def late = data("late")
  private def dense = data("dense")
  private def delay = data("delay")
  private def digits = data("digits")
  private def mnist = data("mnist")
  private def cancer = data("cancer")
  private def sample = data("spark-sample_libsvm_data.txt")
  private def words = data("spark-sample_lda_libsvm_data.txt")
  private def lines = data("spark-sample_linear_regression_data.txt")

  /** Name, iterations asked for, training. */
  val all: Seq[(String, Int, () => Any)] = Seq[(String, Int, () => Any)](
    ("logistic-late", 100, logistic(late, 100)),
    ("logistic-dense", 60, logistic(dense, 60, l2 = 1e-4)),
    ("logistic-cancer", 120, logistic(cancer, 120)),
    ("logistic-late-l1", 60, logistic(late, 60, l1 = 1e-3)),
    ("logistic-cancer-l1", 80, logistic(cancer, 80, l1 = 1e-2)),
    ("softmax-digits", 150, logistic(digits, 150, l2 = 1e-5)),
    ("softmax-mnist", 60, logistic(mnist, 60, l2 = 1e-3)),
    ("svc-late", 60, svc(late, 60, 1e-4)),
    ("svc-cancer", 100, svc(cancer, 100, 1e-3)),
    ("svc-mnist", 40, svc(odd(mnist), 40, 1e-2)),
    ("linear-delay", 80, linear(delay, 80)),
    ("linear-delay-l1", 50, linear(delay, 50, l1 = 0.1)),
    ("linear-lines", 60, linear(lines, 60)),
    ("huber-delay", 80, linear(delay, 80, loss = "huber")),
    ("perceptron-digits-s1", 150, perceptron(digits, 150, 16, 10, 1)),
    ("perceptron-digits-s2", 150, perceptron(digits, 150, 32, 10, 2)),
    ("perceptron-late", 80, perceptron(late, 80, 8, 2, 1)),
    ("perceptron-mnist", 60, perceptron(mnist, 60, 16, 10, 3)),
    ("perceptron-cancer", 120, perceptron(cancer, 120, 6, 2, 4)),
    ("perceptron-gd-digits", 150, perceptron(digits, 150, 16, 10, 5, "gd")),
    ("kmeans-digits-s1", 100, kmeans(digits, 10, 1)),
    ("kmeans-digits-s2", 100, kmeans(digits, 25, 2)),
    ("kmeans-mnist", 60, kmeans(mnist, 20, 3, 60)),
    ("kmeans-dense", 100, kmeans(dense, 30, 4)),
    ("kmeans-late", 80, kmeans(late, 20, 5, 80)),
    ("mixture-dense-s1", 80, mixture(dense, 4, 1, 80)),
    ("mixture-dense-s2", 60, mixture(dense, 8, 2, 60)),
    ("mixture-cancer", 60, mixture(cancer, 3, 3, 60)),
    ("boosting-delay", 60, boosted(delay, 60, 3, 0.1)),
    ("boosting-delay-half", 50, boosted(delay, 50, 3, 0.2, 0.5)),
    ("boosting-lines", 80, boosted(lines, 80, 2, 0.1)),
    ("boosting-classes-cancer", 60, boostedClasses(cancer, 60, 2)),
    ("boosting-classes-late", 40, boostedClasses(late, 40, 3)),
    ("factorisation-late", 120, factorised(late, 120, 0.02, 1)),
    ("factorisation-digits-noisy", 200, factorised(odd(digits), 200, 0.05, 2, 0.1)),
    ("factorisation-value-delay", 150, factorisedValues(delay, 150, 0.5)),
    ("survival-air", 60, survival(data("air"), 60)),
    ("survival-delay", 40, survival(delay, 40)),
    ("topics-online-digits", 80, topics(digits, 80, 10, "online")),
    ("topics-em-words", 60, topics(words, 60, 5, "em")),
    ("topics-online-words", 100, topics(words, 100, 5, "online")),
    ("svm-sgd-late", 150, svm(late, 150, 1, 1)),
    ("svm-sgd-late-noisy", 200, svm(late, 200, 1, 0.02)),
    ("svm-sgd-cancer", 200, svm(cancer, 200, 0.5, 1)),
    ("descent-dense", 150, descent(dense, 150, 1, 1, squares = false)),
    ("descent-cancer-noisy", 250, descent(cancer, 250, 0.5, 0.1, squares = false)),
    ("descent-lines", 150, descent(lines, 150, 0.1, 0.3, squares = true)),
    ("softmax-rdd-digits", 80, () => {
      val regression = new LogisticRegressionWithLBFGS().setNumClasses(10)
      regression.optimizer.setNumIterations(80).setConvergenceTol(0).setRegParam(1e-4)
      regression.run(points(digits))
    }),
    ("bisecting-digits", 20, () => new BisectingKMeans().setK(16).setMaxIter(20).setSeed(1).fit(digits)),
    ("reweighted-delay", 25, () => new GeneralizedLinearRegression().setFamily("poisson").setMaxIter(25).setTol(1e-12).fit(
      delay.withColumn("label", when(col("label") > 0, col("label")).otherwise(0.0)))),
    // Natural ends, as with Spark's own defaults.
    ("default-logistic-sample", 100, () => new LogisticRegression().setRegParam(1e-3).fit(sample)),
    ("default-kmeans-digits", 20, () => new KMeans().setK(10).setSeed(1).fit(digits)),
    ("default-svc-cancer", 100, () => new LinearSVC().setRegParam(0.1).fit(cancer)),
    ("default-mixture-dense", 100, () => new GaussianMixture().setK(3).setSeed(4).fit(dense)),
    ("default-perceptron-digits", 100, () => new MultilayerPerceptronClassifier().setLayers(Array(64, 24, 10)).setSeed(6).fit(digits)))
}

object CurveFits {
  val Partitions = 8

  /** Of a task on emulated cores, on average. */
  val TaskMillis = 80

  /** Trainings that are recorded at several numbers of slots too. */
  val Speed: Set[String] = Set("default-kmeans-digits", "default-perceptron-digits", "default-mixture-dense")
}
