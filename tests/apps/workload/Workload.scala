package workload

import java.lang.management.ManagementFactory

import scala.util.control.NonFatal

import com.sun.management.OperatingSystemMXBean
import emulation.EmulatedCores
import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.storage.StorageLevel

/**
 * Runs a schedule of staggered trainings in one driver, each fit on its own thread.
 *
 *   Workload SCHEDULE DATA-FOLDER [pools]
 *
 * `pools` puts each fit into a FAIR pool of its own. All that a fit sets is local properties: its name, its pool and the
 * emulated time of its tasks. Prints, tab separated: `start SECONDS`, `fit NAME SUBMITTED ENDED OUTCOME`,
 * `end SECONDS CPU-SECONDS EXCESS` (wall clock, seconds since 1970; excess: of the emulated tasks, see [[EmulatedCores]]).
 */
object Workload {
  private val WarmUpRows = 2000

  def main(args: Array[String]): Unit = {
    val schedule = Fit.schedule(args(0))
    val folder = args(1)
    val pools = args.drop(2).contains("pools")
    warmUp(schedule, folder)
    val spark = SparkSession.builder().getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    val data = load(spark, schedule, folder)
    System.gc()
    val cpu = cpuSeconds()
    val start = now()
    print("start", start)
    val threads = schedule.map { fit =>
      val thread = new Thread(() => submit(spark, fit, data((fit.data, fit.partitions)), start, pools), s"fit-${fit.name}")
      thread.start()
      thread
    }
    threads.foreach(_.join())
    print("end", now(), cpuSeconds() - cpu, EmulatedCores.excess)
    spark.stop()
  }

  private def submit(spark: SparkSession, fit: Fit, data: DataFrame, start: Double, pools: Boolean): Unit = {
    Thread.sleep(math.max(0L, ((start + fit.at - now()) * 1000).toLong))
    val sc = spark.sparkContext
    sc.setLocalProperty("spark.slaq.run.name", fit.name)
    if (pools) sc.setLocalProperty("spark.scheduler.pool", fit.name)
    if (fit.millis > 0) EmulatedCores.on(sc, fit.partitions, fit.millis)
    val submitted = now()
    val outcome = try { Training.run(fit, data); "finished" } catch {
      case NonFatal(e) => e.printStackTrace(); "failed"
    }
    print("fit", fit.name, submitted, now(), outcome)
  }

  /**
   * The first fits of a JVM take up to twice as long. They happen here, in a context of their own without plugins: nothing
   * is emulated, and the product learns nothing from them.
   */
  private def warmUp(schedule: Seq[Fit], folder: String): Unit = {
    Lapack.warmUp()
    // A session's builder can only add to what spark-submit set: the context has to be made by hand.
    new SparkContext(new SparkConf().remove("spark.plugins"))
    val spark = SparkSession.builder().getOrCreate()
    val first = schedule.groupBy(fit => (fit.kind, fit.data)).values.map(_.head.copy(partitions = 4, iterations = 3)).toList
    val data = load(spark, first, folder, WarmUpRows)
    first.foreach(fit => Training.run(fit, data((fit.data, fit.partitions))))
    spark.stop()
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
  }

  /**
   * Each data set once for each number of partitions that a fit wants, in memory, split the same way every time. Cut off
   * from how it was read: that would be serialised into every task, and two processors have to run them all.
   */
  private def load(spark: SparkSession, schedule: Seq[Fit], folder: String, rows: Int = Int.MaxValue): Map[(String, Int), DataFrame] =
    schedule.groupBy(_.data).flatMap { case (name, fits) =>
      val all = spark.read.format("libsvm").load(s"$folder/$name.libsvm")
      val read = (if (rows < Int.MaxValue) all.limit(rows) else all).persist(StorageLevel.MEMORY_ONLY)
      val frames = fits.map(_.partitions).distinct.map { partitions =>
        val frame = read.repartition(partitions).localCheckpoint().persist(StorageLevel.MEMORY_ONLY)
        frame.count()
        (name, partitions) -> frame
      }
      read.unpersist()
      frames
    }

  private def now(): Double = System.currentTimeMillis() / 1000.0

  private def cpuSeconds(): Double = ManagementFactory.getOperatingSystemMXBean match {
    case os: OperatingSystemMXBean => os.getProcessCpuTime / 1e9
    case _ => Double.NaN
  }

  private def print(fields: Any*): Unit = Console.out.synchronized {
    println(fields.map { case d: Double => f"$d%.3f"; case other => other.toString }.mkString("\t"))
    Console.out.flush()
  }
}
