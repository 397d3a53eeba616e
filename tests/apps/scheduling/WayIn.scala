package org.apache.spark.slaq.tests

import org.apache.spark.ml.classification.{LinearSVC, LogisticRegression, MultilayerPerceptronClassifier}
import org.apache.spark.ml.clustering.KMeans
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.regression.{GBTRegressor, LinearRegression}
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Says what schedules the application, trains one model of each kind, and prints them in full digits. */
object WayIn {
  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().getOrCreate()
    val sc = spark.sparkContext
    println(s"scheduler ${sc.taskScheduler.getClass.getSimpleName}")
    println(s"backend ${sc.schedulerBackend.getClass.getSimpleName}")
    println(s"master ${sc.master}")
    println(s"mode ${sc.getSchedulingMode}")
    println(s"plugins ${sc.conf.get("spark.plugins", "")}")
    println(s"wait ${sc.conf.get("spark.locality.wait", "unset")}")
    val data = points(spark)
    val models = if (args.contains("one")) Models.take(1) else Models
    models.foreach { case (name, fit) => println(s"model $name ${fit(data).map(_.toString).mkString(" ")}") }
    spark.stop()
  }

  private val Models: Seq[(String, DataFrame => Seq[Double])] = Seq(
    "logistic" -> (d => vector(new LogisticRegression().setMaxIter(4).setRegParam(0.01).fit(d).coefficients)),
    "svc" -> (d => vector(new LinearSVC().setMaxIter(3).setRegParam(0.01).fit(d).coefficients)),
    "linear" -> (d => vector(new LinearRegression().setSolver("l-bfgs").setMaxIter(3).setLabelCol("target").fit(d).coefficients)),
    "kmeans" -> (d => new KMeans().setK(3).setSeed(5).setMaxIter(3).fit(d).clusterCenters.toSeq.flatMap(vector)),
    "perceptron" -> (d => vector(new MultilayerPerceptronClassifier().setLayers(Array(3, 4, 2)).setSeed(7).setMaxIter(3).fit(d).weights)),
    "boosting" -> (d => {
      val model = new GBTRegressor().setLabelCol("target").setMaxIter(2).setMaxDepth(2).setSeed(3).fit(d)
      Seq(model.predict(Vectors.dense(0.1, 0.2, 0.3)), model.predict(Vectors.dense(-0.5, 0.9, 0.0)))
    }))

  private def vector(v: Vector): Seq[Double] = v.toArray.toSeq

  private def points(spark: SparkSession): DataFrame = {
    import spark.implicits._
    val rows = spark.sparkContext.parallelize(0 until 600, 2).map { i =>
      val x = Seq(math.sin(i * 0.7), math.cos(i * 1.3), math.sin(i * 2.1 + 1))
      (if (x(0) + 0.5 * x(1) + 0.3 * math.sin(i * 13.0) > 0) 1.0 else 0.0, 2 * x(0) - x(2) + 0.1 * math.sin(i * 17.0), Vectors.dense(x.toArray): Vector)
    }
    rows.toDF("label", "target", "features").cache()
  }
}
