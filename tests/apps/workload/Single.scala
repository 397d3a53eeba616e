package workload

import org.apache.spark.sql.SparkSession
import org.apache.spark.storage.StorageLevel

/**
 * One fit alone, timed: what the product costs a job that has nothing to share cores with.
 *
 *   Single DATA-FOLDER ITERATIONS FITS
 *
 * Prints, tab separated: `context MILLISECONDS` (creation of the session, plugins included) and, after a fit that warms up,
 * `fit MILLISECONDS-PER-ITERATION` for each of FITS fits.
 */
object Single {
  def main(args: Array[String]): Unit = {
    val Array(folder, iterations, fits) = args
    val before = System.nanoTime()
    val spark = SparkSession.builder().getOrCreate()
    println(s"context\t${millis(before)}")
    // Copies make an iteration as long as wanted on data that a laptop can hold.
    val digits = spark.read.format("libsvm").load(s"$folder/mnist.libsvm")
    val data = digits.union(digits).repartition(spark.sparkContext.defaultParallelism).persist(StorageLevel.MEMORY_ONLY)
    data.count()
    val fit = Fit("single", "kmeans", "mnist", 0, 0, iterations.toInt, 0, 1)
    Training.run(fit, data)
    for (_ <- 1 to fits.toInt) {
      System.gc()
      val start = System.nanoTime()
      Training.run(fit, data)
      println(s"fit\t${millis(start) / iterations.toInt}")
    }
    spark.stop()
  }

  private def millis(since: Long): Double = (System.nanoTime() - since) / 1e6
}
