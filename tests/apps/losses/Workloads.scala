// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.test

import scala.annotation.nowarn
import scala.collection.mutable
import scala.util.Random

import org.apache.spark.ml.{Pipeline, PipelineStage}
import org.apache.spark.ml.classification._
import org.apache.spark.ml.clustering._
import org.apache.spark.ml.evaluation.{BinaryClassificationEvaluator, RegressionEvaluator}
import org.apache.spark.ml.feature.{StandardScaler, Word2Vec}
import org.apache.spark.ml.linalg.{Matrices, Vectors}
import org.apache.spark.ml.recommendation.ALS
import org.apache.spark.ml.regression._
import org.apache.spark.ml.tuning.{CrossValidator, ParamGridBuilder, TrainValidationSplit}
import org.apache.spark.mllib.{classification => oldClassification, clustering => old, optimization, recommendation => oldRecommendation, regression => oldRegression, tree => oldTree}
import org.apache.spark.mllib.linalg.{Vectors => OldVectors}
import org.apache.spark.mllib.regression.{LabeledPoint, StreamingLinearRegressionWithSGD}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.streaming.{Milliseconds, StreamingContext}

/**
 * One small training with each algorithm of MLlib. Each gives what it found: pairs of a word and a value, the word
 * `expect` standing for losses, the value then being (how to compare, the losses).
 */
class Workloads(spark: SparkSession) {
  import spark.implicits._

  private val sc = spark.sparkContext
  private val columns = 8
  private val random = new Random(7)

  private val table: DataFrame = {
    val weights = Array.fill(columns)(random.nextGaussian())
    val rows = (0 until 1200).map { i =>
      val x = Array.tabulate(columns)(j => random.nextGaussian() * (1 + j * 0.5))
      val y = x.zip(weights).map { case (a, b) => a * b }.sum + random.nextGaussian() * 2
      (if (y > 0) 1.0 else 0.0, y, math.floor(math.abs(y)) % 3, math.exp(y / 10), if (i % 3 == 0) 0.0 else 1.0,
        math.max(0.0, math.round(math.exp(y / 8)).toDouble), i % 4 == 0, Vectors.dense(x))
    }
    val made = sc.parallelize(rows, 2).toDF("label", "y", "class", "survival", "censor", "count", "held", "features").cache()
    made.count()
    made
  }

  val labelled: DataFrame = table.select("label", "features")
  private def as(label: String, more: String*): DataFrame =
    table.select(col(label).as("label") +: (more :+ "features").map(col): _*)
  private val real = as("y")
  private val classes = as("class")
  private def points(label: String): RDD[LabeledPoint] = table.select(label, "features").rdd.map { row =>
    LabeledPoint(row.getDouble(0), OldVectors.fromML(row.getAs[org.apache.spark.ml.linalg.Vector](1)))
  }.cache()
  private val labelledPoints = points("label")
  private val realPoints = points("y")
  private val vectors = labelledPoints.map(_.features).cache()
  private val pairs = labelledPoints.map(p => (p.label, p.features)).cache()
  private val zeros = OldVectors.zeros(columns)
  private val ratings = sc.parallelize((0 until 3000).map(_ => (random.nextInt(60), random.nextInt(50))).distinct
    .map { case (user, item) => (user, item, 1f + (user * item) % 5) }, 2).toDF("user", "item", "rating").cache()
  private val documents = sc.parallelize((0 until 200).map { i =>
    (i.toLong, Vectors.dense(Array.fill(30)(random.nextInt(4).toDouble)))
  }, 2).toDF("id", "features").cache()
  private val corpus = documents.rdd.map(row => (row.getLong(0), OldVectors.fromML(row.getAs[org.apache.spark.ml.linalg.Vector](1)))).cache()
  private val texts = (0 until 100).map(_ => Seq.fill(15)("w" + random.nextInt(30))).toDF("text")
  private val edges = (0 until 200).map(i => (i.toLong % 30, (i * 7L + 1) % 30, 1.0 + (i % 3))).filter(e => e._1 != e._2).distinct

  private type Found = Seq[(String, Any)]
  private def equal(values: Array[Double]): (String, Any) = "expect" -> (("equal", values.toSeq))
  private def close(values: Array[Double]): (String, Any) = "expect" -> (("close", values.toSeq))
  private def last(value: Double): (String, Any) = "expect" -> (("last", Seq(value)))
  private def lastClose(value: Double): (String, Any) = "expect" -> (("last-close", Seq(value)))
  private def count(n: Int): (String, Any) = "expect" -> (("count", Seq(n.toDouble)))
  private def steps(n: Int): (String, Any) = "expect" -> (("progress", Seq(n.toDouble)))

  /** An algorithm whose only constructor left is hidden from Scala. */
  private def hidden[T](of: Class[T], arguments: Double*): T = {
    val constructor = of.getConstructors.find(_.getParameterCount == arguments.length).get
    val fitting = constructor.getParameterTypes.zip(arguments).map {
      case (Integer.TYPE, value) => value.toInt: Integer
      case (_, value) => value: java.lang.Double
    }
    constructor.newInstance(fitting: _*).asInstanceOf[T]
  }

  private def descent(gradient: optimization.Gradient, updater: optimization.Updater, data: RDD[(Double, org.apache.spark.mllib.linalg.Vector)], iterations: Int,
      regularisation: Double, fraction: Double, tolerance: Double = 0.001): Array[Double] =
    optimization.GradientDescent.runMiniBatchSGD(data, gradient, updater, 1.0, iterations, regularisation, fraction, zeros, tolerance)._2

  private val optimizers: Seq[(String, () => Found)] = Seq(
    "logistic" -> (() => { val m = new LogisticRegression().setMaxIter(20).setRegParam(0.01).fit(labelled); Seq(equal(m.summary.objectiveHistory), "model" -> m.coefficients.toArray) }),
    "logistic-l1" -> (() => { val m = new LogisticRegression().setMaxIter(15).setRegParam(0.05).setElasticNetParam(0.5).fit(labelled); Seq(equal(m.summary.objectiveHistory), "model" -> m.coefficients.toArray) }),
    "logistic-classes" -> (() => { val m = new LogisticRegression().setMaxIter(12).setRegParam(0.01).fit(classes); Seq(equal(m.summary.objectiveHistory), "model" -> m.coefficientMatrix.toArray) }),
    "logistic-bounds" -> (() => { val m = new LogisticRegression().setMaxIter(12).setLowerBoundsOnCoefficients(Matrices.dense(1, columns, Array.fill(columns)(-0.3))).fit(labelled); Seq(equal(m.summary.objectiveHistory), "model" -> m.coefficients.toArray) }),
    "linear" -> (() => { val m = new LinearRegression().setSolver("l-bfgs").setMaxIter(20).setRegParam(0.01).fit(real); Seq(equal(m.summary.objectiveHistory), "model" -> m.coefficients.toArray) }),
    "linear-huber" -> (() => { val m = new LinearRegression().setLoss("huber").setMaxIter(12).setRegParam(0.01).fit(real); Seq(equal(m.summary.objectiveHistory), "model" -> m.coefficients.toArray) }),
    // Minimises over sums in the driver: an objective history, but no iteration that Spark works for.
    "linear-normal" -> (() => { val m = new LinearRegression().setSolver("normal").setRegParam(0.01).setElasticNetParam(0.5).fit(real); Seq(count(0), "model" -> m.coefficients.toArray) }),
    "svc" -> (() => { val m = new LinearSVC().setMaxIter(12).setRegParam(0.01).fit(labelled); Seq(equal(m.summary.objectiveHistory), "model" -> m.coefficients.toArray) }),
    "perceptron" -> (() => { val m = new MultilayerPerceptronClassifier().setLayers(Array(columns, 5, 2)).setMaxIter(15).setSeed(1).fit(labelled); Seq(equal(m.summary.objectiveHistory), "model" -> m.weights.toArray) }),
    "perceptron-gd" -> (() => { val m = new MultilayerPerceptronClassifier().setSolver("gd").setLayers(Array(columns, 5, 2)).setMaxIter(10).setSeed(1).fit(labelled); Seq(equal(m.summary.objectiveHistory), "model" -> m.weights.toArray) }),
    "survival" -> (() => { val m = new AFTSurvivalRegression().setMaxIter(10).setTol(0).fit(as("survival", "censor")); Seq(count(11), "model" -> m.coefficients.toArray) }),
    "factorisation" -> (() => { val m = new FMClassifier().setMaxIter(10).setStepSize(0.01).setSeed(1).fit(labelled); Seq(equal(m.summary.objectiveHistory), "model" -> m.linear.toArray) }),
    "factorisation-real" -> (() => { val m = new FMRegressor().setMaxIter(10).setTol(0).setStepSize(0.01).setSeed(1).fit(real); Seq(count(11), "model" -> m.linear.toArray) }),
    "reweighted" -> (() => { val m = new GeneralizedLinearRegression().setFamily("poisson").setLink("log").setMaxIter(12).fit(as("count")); Seq(count(m.summary.numIterations), "model" -> m.coefficients.toArray) }),
    "descent" -> (() => Seq(equal(descent(new optimization.LogisticGradient, new optimization.SimpleUpdater, pairs, 12, 0.01, 0.5)))),
    "lbfgs" -> (() => Seq(equal(optimization.LBFGS.runLBFGS(pairs, new optimization.LogisticGradient, new optimization.SquaredL2Updater, 10, 1e-6, 12, 0.01, zeros)._2))),
    "old-svm" -> (() => { val m = oldClassification.SVMWithSGD.train(labelledPoints, 15, 1.0, 0.01, 1.0); Seq("model" -> m.weights.toArray) }),
    "old-svm-same" -> (() => Seq(equal(descent(new optimization.HingeGradient, new optimization.SquaredL2Updater, pairs, 15, 0.01, 1.0)))),
    "old-logistic" -> (() => { val m = hidden(classOf[oldClassification.LogisticRegressionWithSGD], 1.0, 12, 0.01, 1.0).run(labelledPoints); Seq(count(13), "model" -> m.weights.toArray) }),
    "old-lasso" -> (() => { val m = hidden(classOf[oldRegression.LassoWithSGD], 0.001, 12, 0.01, 0.5).run(realPoints); Seq(count(13), "model" -> m.weights.toArray) }),
    "old-ridge" -> (() => { val m = hidden(classOf[oldRegression.RidgeRegressionWithSGD], 0.001, 12, 0.01, 1.0).run(realPoints); Seq(count(13), "model" -> m.weights.toArray) }),
    "old-linear" -> (() => { val m = hidden(classOf[oldRegression.LinearRegressionWithSGD], 0.001, 12, 0.01, 1.0).run(realPoints); Seq(count(13), "model" -> m.weights.toArray) }),
    "old-lbfgs" -> (() => { val m = new oldClassification.LogisticRegressionWithLBFGS().setNumClasses(3).run(points("class")); Seq("model" -> m.weights.toArray) }),
    "old-lbfgs-delegating" -> (() => { val m = new oldClassification.LogisticRegressionWithLBFGS().run(labelledPoints); Seq("model" -> m.weights.toArray) }),
    "streaming" -> (() => streamed()))

  @nowarn("cat=deprecation") // DStreams are, MLlib's streaming algorithms still need them
  private def streamed(): Found = {
    val streaming = new StreamingContext(sc, Milliseconds(200))
    val model = new StreamingLinearRegressionWithSGD().setInitialWeights(zeros).setNumIterations(3).setStepSize(0.001)
    val batches = mutable.Queue(realPoints.repartition(2), realPoints.repartition(2))
    model.trainOn(streaming.queueStream(batches))
    streaming.start()
    val deadline = System.nanoTime + 60000000000L
    while (batches.nonEmpty && System.nanoTime < deadline) streaming.awaitTerminationOrTimeout(200)
    streaming.stop(stopSparkContext = false, stopGracefully = true)
    Nil
  }

  private val clusterings: Seq[(String, () => Found)] = Seq(
    "kmeans" -> (() => { val m = new KMeans().setK(5).setSeed(3).setMaxIter(12).setTol(0).fit(documents); Seq(last(m.summary.trainingCost), count(m.summary.numIter), "model" -> m.clusterCenters.flatMap(_.toArray)) }),
    "kmeans-block" -> (() => { val m = new KMeans().setK(5).setSeed(3).setMaxIter(12).setTol(0).setSolver("block").fit(documents); Seq(last(m.summary.trainingCost), count(m.summary.numIter), "model" -> m.clusterCenters.flatMap(_.toArray)) }),
    "old-kmeans" -> (() => { val m = new old.KMeans().setK(5).setMaxIterations(10).setSeed(3).run(vectors); Seq(last(m.trainingCost), "model" -> m.clusterCenters.flatMap(_.toArray)) }),
    "mixture" -> (() => { val m = new GaussianMixture().setK(3).setMaxIter(12).setSeed(5).fit(labelled); Seq(last(m.summary.logLikelihood), count(m.summary.numIter), "model" -> m.weights) }),
    "old-mixture" -> (() => { val m = new old.GaussianMixture().setK(3).setMaxIterations(8).setConvergenceTol(0).setSeed(5).run(vectors); Seq(count(8), "model" -> m.weights) }),
    "bisecting" -> (() => { val m = new BisectingKMeans().setK(5).setMaxIter(5).setSeed(1).fit(documents); Seq(lastClose(m.summary.trainingCost), "model" -> m.clusterCenters.flatMap(_.toArray)) }),
    "old-bisecting" -> (() => { val m = new old.BisectingKMeans().setK(4).setMaxIterations(4).setSeed(1).run(vectors); Seq(lastClose(m.trainingCost), "model" -> m.clusterCenters.flatMap(_.toArray)) }),
    "lda" -> (() => { new LDA().setK(4).setMaxIter(8).setSeed(1).fit(documents); Seq(count(8)) }),
    "lda-em" -> (() => { new LDA().setK(4).setMaxIter(6).setOptimizer("em").setSeed(1).fit(documents); Seq(count(5)) }),
    "old-lda" -> (() => { new old.LDA().setK(3).setMaxIterations(4).setOptimizer("online").run(corpus); Seq(count(4)) }),
    "power" -> (() => { new PowerIterationClustering().setK(2).setMaxIter(5).setWeightCol("w").assignClusters(edges.toDF("src", "dst", "w")).count(); Seq(count(5)) }))

  private val trees: Seq[(String, () => Found)] = Seq(
    "boosted" -> (() => { val m = new GBTRegressor().setMaxIter(10).setMaxDepth(3).setStepSize(0.2).setSeed(1).fit(real); Seq(close(m.evaluateEachIteration(real, "squared")), "model" -> m.treeWeights) }),
    "boosted-half" -> (() => { val m = new GBTRegressor().setMaxIter(5).setMaxDepth(3).setSubsamplingRate(0.5).setSeed(1).fit(real); Seq(count(5), "model" -> m.treeWeights) }),
    "boosted-absolute" -> (() => { new GBTRegressor().setMaxIter(4).setMaxDepth(2).setLossType("absolute").setSeed(1).fit(real); Seq(count(0), steps(4)) }),
    "boosted-classes" -> (() => { val m = new GBTClassifier().setMaxIter(6).setMaxDepth(3).setSeed(1).fit(labelled); Seq(count(6), "model" -> m.treeWeights) }),
    "boosted-validated" -> (() => {
      val boosted = new GBTClassifier().setMaxIter(6).setMaxDepth(3).setSeed(1).setValidationIndicatorCol("held")
      val m = boosted.set(boosted.validationTol, 0.0).fit(as("label", "held"))
      Seq("expect" -> (("prefix", m.evaluateEachIteration(as("label", "held").where("held")).toSeq)), "model" -> m.treeWeights)
    }),
    "old-boosted" -> (() => {
      val strategy = oldTree.configuration.BoostingStrategy.defaultParams("Regression")
      strategy.setNumIterations(4)
      strategy.treeStrategy.setMaxDepth(3)
      val m = oldTree.GradientBoostedTrees.train(realPoints, strategy)
      Seq(close(m.evaluateEachIteration(realPoints, oldTree.loss.SquaredError)), "model" -> m.treeWeights)
    }),
    "forest" -> (() => { new RandomForestClassifier().setNumTrees(5).setMaxDepth(4).setSeed(1).fit(labelled); Seq(steps(5)) }),
    "tree" -> (() => { new DecisionTreeRegressor().setMaxDepth(3).fit(real); Seq(steps(4)) }),
    "old-forest" -> (() => { oldTree.RandomForest.trainRegressor(realPoints, Map[Int, Int](), 4, "auto", "variance", 3, 32, 1); Seq(steps(4)) }))

  private val others: Seq[(String, () => Found)] = Seq(
    "als" -> (() => { val m = new ALS().setMaxIter(4).setRank(4).setSeed(1).fit(ratings); Seq(steps(8), "model" -> m.userFactors.orderBy("id").head().getSeq[Float](1).map(_.toDouble)) }),
    "als-implicit" -> (() => { new ALS().setMaxIter(4).setRank(4).setImplicitPrefs(true).setSeed(1).fit(ratings); Seq(steps(8)) }),
    "old-als" -> (() => { oldRecommendation.ALS.train(ratings.rdd.map(r => oldRecommendation.Rating(r.getInt(0), r.getInt(1), r.getFloat(2).toDouble)), 3, 3); Seq(steps(6)) }),
    "word2vec" -> (() => { new Word2Vec().setInputCol("text").setOutputCol("out").setVectorSize(4).setMaxIter(3).setMinCount(0).setNumPartitions(2).fit(texts); Seq(steps(3)) }),
    "rest" -> (() => { new OneVsRest().setClassifier(new LogisticRegression().setMaxIter(6)).setParallelism(2).fit(classes); Nil }),
    "validator" -> (() => {
      val regression = new LogisticRegression().setMaxIter(4).setFeaturesCol("scaled")
      val pipeline = new Pipeline().setStages(Array[PipelineStage](new StandardScaler().setInputCol("features").setOutputCol("scaled"), regression))
      new CrossValidator().setEstimator(pipeline).setEvaluator(new BinaryClassificationEvaluator).setNumFolds(2).setParallelism(2)
        .setEstimatorParamMaps(new ParamGridBuilder().addGrid(regression.regParam, Array(0.01, 0.1)).build()).fit(labelled)
      Nil
    }),
    "split" -> (() => {
      val boosted = new GBTRegressor().setMaxIter(3).setMaxDepth(2)
      new TrainValidationSplit().setEstimator(boosted).setEvaluator(new RegressionEvaluator)
        .setEstimatorParamMaps(new ParamGridBuilder().addGrid(boosted.stepSize, Array(0.1, 0.2)).build()).fit(real)
      Nil
    }),
    "fails" -> (() => {
      val thrower = udf((x: Double) => if (x > 1) throw new IllegalStateException("on purpose") else x)
      new LogisticRegression().setMaxIter(5).fit(table.select(thrower(col("y")).as("label"), col("features")))
      Nil
    }))

  val all: Seq[(String, () => Found)] = optimizers ++ clusterings ++ trees ++ others
}
