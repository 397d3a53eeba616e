package workload

import org.apache.spark.ml.classification.{FMClassifier, GBTClassifier, LinearSVC, LogisticRegression, MultilayerPerceptronClassifier}
import org.apache.spark.ml.clustering.{GaussianMixture, KMeans}
import org.apache.spark.ml.linalg.Vector
import org.apache.spark.ml.regression.{AFTSurvivalRegression, FMRegressor, GBTRegressor, LinearRegression}
import org.apache.spark.mllib.classification.{LogisticRegressionWithLBFGS, SVMWithSGD}
import org.apache.spark.mllib.linalg.Vectors
import org.apache.spark.mllib.regression.LabeledPoint
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, lit}

/** The trainings of the schedules: MLlib as any user calls it, nothing of the product. */
object Training {
  private val Digits = 10

  /** Trains on a frame of (label, features). The model is dropped: the schedules are about how soon it was good. */
  def run(fit: Fit, data: DataFrame): Unit = {
    val n = fit.iterations
    def width = data.schema("features").metadata.getLong("numFeatures").toInt
    fit.kind match {
      case "logistic" => new LogisticRegression().setMaxIter(n).setRegParam(1e-5).fit(data)
      case "logistic-l1" => new LogisticRegression().setMaxIter(n).setRegParam(1e-3).setElasticNetParam(0.5).fit(data)
      case "softmax" => new LogisticRegression().setFamily("multinomial").setMaxIter(n).setRegParam(1e-5).fit(data)
      case "svc" => new LinearSVC().setMaxIter(n).setRegParam(1e-4).fit(data)
      case "linear" => new LinearRegression().setSolver("l-bfgs").setMaxIter(n).setTol(1e-8).fit(data)
      case "huber" => new LinearRegression().setLoss("huber").setMaxIter(n).fit(data)
      case "perceptron" => new MultilayerPerceptronClassifier().setLayers(Array(width, 16, Digits)).setMaxIter(n).setSeed(fit.seed).fit(data)
      case "kmeans" => new KMeans().setK(20).setMaxIter(n).setSeed(fit.seed).setInitMode("random").setTol(1e-6).fit(data)
      case "mixture" => new GaussianMixture().setK(4).setMaxIter(n).setSeed(fit.seed).fit(data)
      case "boosting" => new GBTRegressor().setMaxIter(n).setStepSize(0.3).setMaxDepth(2).setMaxBins(16).setSeed(fit.seed).fit(data)
      case "boosting-class" => new GBTClassifier().setMaxIter(n).setStepSize(0.3).setMaxDepth(2).setMaxBins(16).setSeed(fit.seed).fit(data)
      case "factorisation" => new FMClassifier().setFactorSize(4).setStepSize(0.05).setMaxIter(n).setSeed(fit.seed).fit(data)
      case "factorisation-value" => new FMRegressor().setFactorSize(4).setStepSize(0.1).setMaxIter(n).setSeed(fit.seed).fit(data)
      case "survival" => new AFTSurvivalRegression().setMaxIter(n).fit(data.withColumn("censor", lit(1.0)))
      case "svm-sgd" =>
        val svm = new SVMWithSGD()
        svm.optimizer.setNumIterations(n).setStepSize(2.0).setRegParam(1e-3)
        svm.run(points(data, fit))
      case "logistic-rdd" =>
        val regression = new LogisticRegressionWithLBFGS().setNumClasses(Digits)
        regression.optimizer.setNumIterations(n).setRegParam(1e-4)
        regression.run(points(data, fit))
      case other => throw new IllegalArgumentException(s"unknown kind of training '$other'")
    }
    ()
  }

  /** The older RDD-based API; its users cache the points themselves. */
  private def points(data: DataFrame, fit: Fit): RDD[LabeledPoint] =
    data.select(col("label"), col("features")).rdd
      .map(row => LabeledPoint(row.getDouble(0), Vectors.fromML(row.getAs[Vector](1)))).setName(fit.name).cache()
}
