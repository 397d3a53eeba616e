package org.apache.spark.slaq.executors

import org.apache.spark.SparkConf
import org.apache.spark.internal.Logging

/** Settings without which executors can't follow a target, for those that the user left open. */
private[slaq] object ExecutorDefaults extends Logging {
  private val Dynamic = "spark.dynamicAllocation.enabled"
  private val Decommission = "spark.decommission.enabled"
  private val Migration = "spark.storage.decommission.enabled"
  private val ShuffleMigration = "spark.storage.decommission.shuffleBlocks.enabled"
  private val ShuffleTracking = "spark.dynamicAllocation.shuffleTracking.enabled"

  /** Would be asked for before the arbiter has said anything. */
  private val Early = Seq("spark.executor.instances", "spark.dynamicAllocation.initialExecutors")

  private val Missing = Seq(
    // Without a size, a standalone Master gives one executor all cores of a worker.
    "spark.executor.cores" -> "1",
    Dynamic -> "true",
    Decommission -> "true",
    Migration -> "true",
    // Blocks that were cached after the first sweep wait for the next: 30 s by default.
    "spark.storage.decommission.replicationReattemptInterval" -> "1s",
    "spark.executor.decommission.forceKillTimeout" -> "20s",
    // The driver counts an executor that has gone for another 5 s.
    "spark.standalone.executorRemoveDelayOnDisconnection" -> "0s")

  /** Whether the number of executors may change at all. */
  def steered(conf: SparkConf): Boolean = conf.get(Dynamic, "true").trim.toLowerCase != "false"

  def set(conf: SparkConf): Unit = if (steered(conf)) {
    Missing.foreach { case (key, value) => conf.setIfMissing(key, value) }
    // Spark wants one reason to believe that shuffle output survives. Migration is one, and Spark warns of two.
    if (Seq(Decommission, Migration, ShuffleMigration).forall(conf.getBoolean(_, true))) conf.setIfMissing(ShuffleTracking, "false")
    for (key <- Early; n <- conf.getOption(key)) {
      logInfo(s"$key = $n is left out: the arbiter says how many executors there are")
      conf.remove(key)
    }
  } else {
    logInfo(s"$Dynamic = false: the application keeps its executors, and the arbiter only counts them")
  }
}
