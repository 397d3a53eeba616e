package arbiter

import scala.util.Random

import emulation.EmulatedCores
import org.apache.spark.ml.clustering.KMeans
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.mllib.classification.SVMWithSGD
import org.apache.spark.mllib.linalg.{Vectors => OldVectors}
import org.apache.spark.mllib.regression.LabeledPoint
import org.apache.spark.sql.SparkSession
import org.apache.spark.storage.StorageLevel

/**
 * Unchanged MLlib trainings on cached data, one after the other: PARTITIONS MILLIS KIND:ITERATIONS…, where a task
 * takes MILLIS. Prints the number of executors, `model KIND …` for each training, and last how many partitions are cached.
 *
 * The support vector machine is trained by gradient descent, since that does as many iterations as it is told.
 */
object SteadyTraining {
  def main(args: Array[String]): Unit = {
    val Array(partitions, millis) = args.take(2)
    val spark = SparkSession.builder().getOrCreate()
    val sc = spark.sparkContext
    ExecutorCount.watch(sc)
    val points = sc.range(0, 4000, 1, partitions.toInt).map { i =>
      val random = new Random(i)
      val x = Array.fill(20)(random.nextGaussian())
      val label = if (x.zipWithIndex.map { case (v, k) => v * (k % 5 - 2) }.sum + random.nextGaussian() > 0) 1.0 else 0.0
      (label, x)
    }
    def svm(iterations: Int): Array[Double] = {
      val data = points.map { case (label, x) => LabeledPoint(label, OldVectors.dense(x)) }.persist(StorageLevel.MEMORY_ONLY)
      data.count()
      EmulatedCores.on(sc, partitions.toInt, millis.toInt)
      SVMWithSGD.train(data, iterations, 1.0, 0.01, 1.0).weights.toArray
    }
    def kmeans(iterations: Int): Array[Double] = {
      import spark.implicits._
      val data = points.map { case (_, x) => Tuple1(Vectors.dense(x)) }.toDF("features").persist(StorageLevel.MEMORY_ONLY)
      data.count()
      EmulatedCores.on(sc, partitions.toInt, millis.toInt)
      new KMeans().setK(8).setMaxIter(iterations).setTol(0).setSeed(7).fit(data).clusterCenters.flatMap(_.toArray)
    }
    args.drop(2).map(_.split(':')).foreach { case Array(kind, iterations) =>
      val model = kind match {
        case "svm" => svm(iterations.toInt)
        case "kmeans" => kmeans(iterations.toInt)
      }
      println(s"model $kind ${model.mkString(" ")}")
    }
    println(s"cached ${sc.getRDDStorageInfo.map(_.numCachedPartitions).sum}")
    spark.stop()
  }
}
