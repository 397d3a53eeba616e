package workload

import arbiter.ExecutorCount
import emulation.EmulatedCores
import org.apache.spark.sql.SparkSession
import org.apache.spark.storage.StorageLevel

/**
 * One training in an application of its own, as a user would submit it: SCHEDULE DATA-FOLDER NAME trains the fit of that
 * name. Prints the number of executors, and what [[Workload]] prints.
 */
object Application {
  def main(args: Array[String]): Unit = {
    val fit = Fit.schedule(args(0)).find(_.name == args(2)).get
    val spark = SparkSession.builder().getOrCreate()
    val sc = spark.sparkContext
    ExecutorCount.watch(sc)
    def now = f"${System.currentTimeMillis() / 1000.0}%.3f"
    val start = now
    println(s"start\t$start")
    val data = spark.read.format("libsvm").load(s"${args(1)}/${fit.data}.libsvm").repartition(fit.partitions).persist(StorageLevel.MEMORY_ONLY)
    data.count()
    sc.setLocalProperty("spark.slaq.run.name", fit.name)
    EmulatedCores.on(sc, fit.partitions, fit.millis)
    Training.run(fit, data)
    println(s"fit\t${fit.name}\t$start\t$now\tfinished")
    println(s"end\t$now\t0\t0")
    spark.stop()
  }
}
