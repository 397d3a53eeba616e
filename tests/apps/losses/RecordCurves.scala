// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.test

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.collection.mutable

import emulation.EmulatedCores
import workload.{Fit, Training}

import org.apache.spark.scheduler.{SparkListener, SparkListenerStageCompleted, SparkListenerStageSubmitted, SparkListenerTaskEnd}
import org.apache.spark.slaq.loss.{LossTap, Run}
import org.apache.spark.sql.SparkSession
import org.apache.spark.storage.StorageLevel

/**
 * Trains one fit after the other and writes each one's losses, times and stages as a JSON file of tests/curves.
 *
 *   RecordCurves DATA OUT curves [REGEX]   the trainings of [[CurveFits]]
 *   RecordCurves DATA OUT speed SLOTS      some of them on emulated cores, as NAME-cSLOTS
 *   RecordCurves DATA OUT schedule FILE    those of a schedule, see [[workload.Fit]], on emulated cores
 */
object RecordCurves {
  def main(args: Array[String]): Unit = {
    val Array(data, out, what, which) = args.padTo(4, ".*")
    val spark = SparkSession.builder().getOrCreate()
    val log = new RunLog
    LossTap.current.getOrElse(sys.error("the loss tap does not run")).listen(log)
    spark.sparkContext.addSparkListener(log.stages)
    try {
      val chosen: Seq[(String, Int, () => Any)] = what match {
        case "curves" => new CurveFits(spark, data).all.filter(_._1.matches(which)).map { case (name, _, fit) => (name, CurveFits.Partitions, fit) }
        case "speed" =>
          EmulatedCores.on(spark.sparkContext, CurveFits.Partitions, CurveFits.TaskMillis)
          new CurveFits(spark, data).all.filter { case (name, _, _) => CurveFits.Speed.contains(name) }.map { case (name, _, fit) => (s"$name-c$which", CurveFits.Partitions, fit) }
        case "schedule" => Fit.schedule(which).map(fit => (fit.name, fit.partitions, () => scheduled(spark, data, fit)))
      }
      for ((name, partitions, fit) <- chosen) {
        fit()
        spark.sparkContext.listenerBus.waitUntilEmpty()
        log.take().foreach(write(Paths.get(out), name, partitions, spark, _))
      }
    } finally spark.stop()
  }

  private def scheduled(spark: SparkSession, folder: String, fit: Fit): Unit = {
    val data = spark.read.format("libsvm").load(s"$folder/${fit.data}.libsvm").repartition(fit.partitions).persist(StorageLevel.MEMORY_ONLY)
    data.count()
    EmulatedCores.on(spark.sparkContext, fit.partitions, fit.millis)
    try Training.run(fit, data) finally EmulatedCores.off(spark.sparkContext)
    data.unpersist()
  }

  private def write(out: Path, name: String, partitions: Int, spark: SparkSession, told: RunLog.Told): Unit =
    if (told.losses.length < 2 || told.losses.exists(l => l.isNaN || l.isInfinite)) println(s"skipped $name: ${told.losses.length} losses")
    else {
      val seconds = told.times.indices.tail.map(i => short((told.times(i) - told.times(i - 1)) / 1000.0))
      val json = Json(mutable.LinkedHashMap[String, Any]("name" -> name, "algorithm" -> told.run.algorithm, "maximise" -> told.run.maximise,
        "scale" -> told.run.scale, "maxIterations" -> told.run.maxIterations.getOrElse(told.losses.length),
        "partitions" -> partitions, "slots" -> spark.sparkContext.defaultParallelism, "spark" -> spark.version,
        "losses" -> told.losses, "seconds" -> seconds, "stages" -> told.stagesPerLoss))
      Files.createDirectories(out)
      Files.write(out.resolve(s"$name.json"), (json + "\n").getBytes(UTF_8))
      println(f"$name%-32s ${told.run.algorithm}%-32s ${told.losses.length}%4d losses ${told.losses.head}%.5g .. ${told.losses.last}%.5g in ${(told.times.last - told.times.head) / 1000.0}%.1f s")
    }

  /** Four significant digits. */
  private[test] def short(value: Double): BigDecimal = BigDecimal(value).round(new java.math.MathContext(4))
}

/** Losses, times and stages of the one training at work. Times are milliseconds since the epoch, as Spark's events have them. */
final class RunLog extends Recorder {
  import RunLog._

  private var told: Told = _

  override def started(run: Run): Unit = synchronized(if (!run.meta) told = new Told(run))
  override def loss(run: Run, iteration: Int, value: Double): Unit = synchronized {
    told.losses += value
    told.times += System.currentTimeMillis
  }
  override def progress(run: Run, done: Int, total: Int): Unit = ()
  override def finished(run: Run, outcome: String): Unit = ()

  /** What was seen since the last call. */
  def take(): Option[Told] = synchronized {
    val seen = Option(told)
    told = null
    seen
  }

  val stages: SparkListener = new SparkListener {
    private val open = mutable.Map[Int, Stage]()

    override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit =
      if (Option(event.properties).exists(_.getProperty(LossTap.RunProperty) != null)) open(event.stageInfo.stageId) = new Stage

    override def onTaskEnd(event: SparkListenerTaskEnd): Unit = open.get(event.stageId).foreach { stage =>
      stage.millis += event.taskInfo.duration
      stage.longest = math.max(stage.longest, event.taskInfo.duration)
    }

    override def onStageCompleted(event: SparkListenerStageCompleted): Unit = open.remove(event.stageInfo.stageId).foreach { stage =>
      val info = event.stageInfo
      stage.tasks = info.numTasks
      stage.end = info.completionTime.getOrElse(0L)
      stage.span = stage.end - info.submissionTime.getOrElse(stage.end)
      RunLog.this.synchronized(if (told != null) told.stages += stage)
    }
  }
}

object RunLog {
  final class Stage {
    var tasks = 0
    var millis, longest, span, end = 0L
  }

  final class Told(val run: Run) {
    val losses = mutable.ArrayBuffer[Double]()
    val times = mutable.ArrayBuffer[Long](System.currentTimeMillis)
    val stages = mutable.ArrayBuffer[Stage]()

    /** For each loss the stages that ended since the one before it. */
    def stagesPerLoss: Seq[Seq[Seq[Any]]] = times.indices.tail.map { i =>
      val since = if (i == 1) 0 else times(i - 1)
      stages.filter(s => s.end > since && s.end <= times(i)).map { s =>
        Seq(s.tasks) ++ Seq(s.millis, s.longest, s.span).map(ms => RecordCurves.short(ms / 1000.0))
      }.toSeq
    }
  }
}
