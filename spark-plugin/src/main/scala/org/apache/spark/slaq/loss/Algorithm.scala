// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import org.apache.spark.ml.param.Params

/**
 * What is known of a training before its first iteration.
 *
 * @param families the probe families that its losses come through; none: it has no loss
 * @param scale    see [[Run]]
 * @param stages   without a loss: the stages whose number is its progress, by the begin of their names
 * @param steps    how many of these there will be, 0 where that is open
 */
private[loss] final case class Algorithm(
    name: String,
    families: Seq[String] = Nil,
    scale: String = "none",
    maximise: Boolean = false,
    meta: Boolean = false,
    maxIterations: Option[Int] = None,
    tolerance: Option[Double] = None,
    stages: String = "",
    steps: Int = 0) {
  def hasLoss: Boolean = families.nonEmpty
}

private[loss] object Algorithm {
  private def rows(families: Seq[String], scale: String, maximise: Boolean = false)(names: String*) =
    names.map(name => name -> Algorithm(name, families, scale, maximise))

  private val table: Map[String, Algorithm] = Seq(
    rows(Seq("breeze"), "mean")("LogisticRegression", "LinearRegression", "LinearSVC", "AFTSurvivalRegression",
      "MultilayerPerceptronClassifier", "LogisticRegressionWithLBFGS", "LBFGS"),
    rows(Seq("sgd"), "stochastic")("FMClassifier", "FMRegressor", "SVMWithSGD", "LogisticRegressionWithSGD",
      "LassoWithSGD", "RidgeRegressionWithSGD", "LinearRegressionWithSGD", "GradientDescent"),
    rows(Seq("kmeans", "kmeans-block"), "sum")("KMeans"),
    rows(Seq("mixture"), "sum", maximise = true)("GaussianMixture"),
    rows(Seq("bisecting"), "sum")("BisectingKMeans"),
    rows(Seq("lda"), "change")("LDA"),
    rows(Seq("power"), "change")("PowerIterationClustering"),
    rows(Seq("irls"), "change")("GeneralizedLinearRegression"),
    rows(Seq("boosting"), "mean")("GBTRegressor", "GBTClassifier", "GradientBoostedTrees"),
    Seq("RandomForestClassifier", "RandomForestRegressor", "RandomForest", "DecisionTreeClassifier",
      "DecisionTreeRegressor", "DecisionTree").map(n => n -> Algorithm(n, stages = "collectAsMap at RandomForest.scala")),
    Seq("ALS" -> Algorithm("ALS", stages = "flatMap at ALS.scala"),
      "Word2Vec" -> Algorithm("Word2Vec", stages = "collect at Word2Vec.scala")),
    Seq("Pipeline", "CrossValidator", "TrainValidationSplit", "OneVsRest").map(n => n -> Algorithm(n, meta = true))
  ).flatten.toMap

  /** An algorithm by its simple class name. One that is not in the table trains without a loss. */
  def apply(name: String): Algorithm = table.getOrElse(name, new Algorithm(name))

  /** Alternating least squares: each iteration shuffles once for the items and once for the users, all in one job. */
  def als(iterations: Int): Algorithm = Algorithm("ALS").copy(maxIterations = Some(iterations), steps = 2 * iterations)

  /** A tree or a forest: first the candidate splits, then level by level, all trees at once as far as memory allows. */
  def forest(known: Algorithm, depth: Int): Algorithm = known.copy(steps = depth + 1)

  /** An estimator of `spark.ml`, with what its parameters tell, the defaults included. */
  def of(estimator: Params): Algorithm = {
    val known = Algorithm(simpleName(estimator))
    val refined = known.name match {
      case "MultilayerPerceptronClassifier" if param(estimator, "solver").contains("gd") =>
        known.copy(families = Seq("sgd"), scale = "stochastic")
      case "GBTRegressor" | "GBTClassifier" =>
        val loss = param(estimator, "lossType").fold("")(_.toString)
        val whole = param(estimator, "subsamplingRate").forall(_ == 1.0)
        boosted(known, loss, whole, param(estimator, "validationIndicatorCol").exists(_ != ""))
      case "ALS" => als(param(estimator, "maxIter").collect { case n: Int => n }.getOrElse(0))
      case _ => param(estimator, "maxDepth").collect { case depth: Int => forest(known, depth) }.getOrElse(known)
    }
    // BisectingKMeans' maxIter is for each level of a tree whose depth the data decides.
    val bounded = refined.name != "BisectingKMeans"
    refined.copy(
      maxIterations = param(estimator, "maxIter").collect { case n: Int if bounded => n },
      tolerance = param(estimator, "tol").collect { case t: Double => t })
  }

  /**
   * Boosting's loss depends on what is boosted: the tree's leaves give the squared error exactly, for the logistic loss
   * the gradient's second moment, for the absolute loss (whose gradient is a sign) nothing. With validation rows Spark
   * itself computes their error after each tree.
   */
  def boosted(known: Algorithm, loss: String, allRows: Boolean, validated: Boolean): Algorithm =
    if (validated) known.copy(scale = "mean")
    else loss match {
      case "logistic" => known.copy(scale = "proxy")
      case "absolute" => known.copy(families = Nil, scale = "none")
      case _ => known.copy(scale = if (allRows) "mean" else "stochastic")
    }

  /** Class name without package and outer classes; never fails, unlike `getSimpleName` on some Scala classes. */
  def simpleName(of: AnyRef): String =
    of.getClass.getName.split("[.$]").filter(_.nonEmpty).lastOption.getOrElse("unknown")

  private def param(of: Params, name: String): Option[Any] =
    if (of.hasParam(name)) of.get(of.getParam(name)).orElse(of.getDefault(of.getParam(name))) else None
}
